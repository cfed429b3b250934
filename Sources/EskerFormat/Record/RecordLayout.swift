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
