/// Where the parts of a record stand, and how large they may be.
public enum RecordLayout {
  /// Bytes of a header without extension words.
  @inlinable public static var headerLength: Int { 32 }

  /// Bytes of the longest key.
  @inlinable public static var maximumKeyLength: Int { 65_535 }

  /// Bytes of the longest value.
  @inlinable public static var maximumValueLength: Int { 1 << 30 }

  /// The largest sequence number that a header can hold.
  @inlinable public static var maximumSequence: UInt64 { 1 << 56 - 1 }

  /// The largest sequence number that a store may have come to when it is opened.
  ///
  /// Half of what a header can hold, so that no store runs out of numbers while it is open; at a million writes a second it is
  /// reached after a thousand years. What claims to be beyond was made up.
  @inlinable public static var sequenceLimit: UInt64 { 1 << 55 }

  /// Bytes of a whole record, a multiple of eight.
  @inlinable
  public static func size(keyLength: Int, valueLength: Int, extensionWords: Int) -> Int {
    (32 &+ 8 &* extensionWords &+ keyLength &+ valueLength &+ 7) & ~7
  }

  /// Bytes of a whole record with this expiry (`Int64.max` for never) and keyspace, a multiple of eight.
  @inlinable
  public static func size(keyLength: Int, valueLength: Int, expiry: Int64, keyspace: KeyspaceTag) -> Int {
    let extensionWords = (expiry == .max ? 0 : 1) &+ (keyspace == .default ? 0 : 1)
    return size(keyLength: keyLength, valueLength: valueLength, extensionWords: extensionWords)
  }
}
