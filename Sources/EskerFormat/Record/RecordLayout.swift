/// The layout of a record, and its limits.
public enum RecordLayout {
  /// The length in bytes of a header without extension words.
  @inlinable public static var headerLength: Int { 32 }

  /// The longest key in bytes.
  @inlinable public static var maximumKeyLength: Int { 65_535 }

  /// The longest value in bytes.
  @inlinable public static var maximumValueLength: Int { 1 << 30 }

  /// The largest sequence number that a header can hold.
  @inlinable public static var maximumSequence: UInt64 { 1 << 56 - 1 }

  /// The largest sequence number a store may have reached when it is opened.
  ///
  /// Half of what a header can hold, so that no store runs out of numbers while it is open; at a million writes a second it
  /// takes a thousand years to reach. A larger number is invalid.
  @inlinable public static var sequenceLimit: UInt64 { 1 << 55 }

  /// The length in bytes of a whole record, a multiple of eight.
  @inlinable
  public static func size(keyLength: Int, valueLength: Int, extensionWords: Int) -> Int {
    (32 &+ 8 &* extensionWords &+ keyLength &+ valueLength &+ 7) & ~7
  }

  /// The length in bytes of a whole record with this expiry (`Int64.max` for never) and keyspace, a multiple of eight.
  @inlinable
  public static func size(keyLength: Int, valueLength: Int, expiry: Int64, keyspace: KeyspaceTag) -> Int {
    let extensionWords = (expiry == .max ? 0 : 1) &+ (keyspace == .default ? 0 : 1)
    return size(keyLength: keyLength, valueLength: valueLength, extensionWords: extensionWords)
  }
}
