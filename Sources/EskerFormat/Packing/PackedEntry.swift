/// A record in a packed segment, in place. Whether it is intact has not been looked at.
///
/// It borrows the segment's memory: the maker keeps that alive and unchanged.
@safe
public struct PackedEntry {
  /// The record's place in history.
  public let sequence: UInt64
  /// What the record says.
  public let kind: RecordKind
  /// When the record expires; `Int64.max` means never.
  public let expiry: Int64
  /// The keyspace of the key.
  public let keyspace: KeyspaceTag
  /// Where the index leads to.
  public let offset: Int
  /// Bytes that the record takes; in a cell, its share.
  public let size: Int
  /// Bytes of the value.
  public let valueLength: Int

  /// The key is what all keys of a cell begin with, and the rest.
  let keyPrefix: UnsafeRawBufferPointer
  let keyRest: UnsafeRawBufferPointer
  /// What the header's checksum covers, without the checksum itself.
  let head: UnsafeRawBufferPointer
  let headChecksum: UInt32
  /// Where the header's checksum was made for.
  let headOffset: Int
  /// The value, or the values of the whole cell, as they lie on disk.
  let stored: UnsafeRawBufferPointer
  /// Bytes of `stored` after decompression; as many as there are if they are not compressed.
  public let plainLength: Int
  /// Whether the value has to be decompressed.
  public let isCompressed: Bool
  /// Of the plain bytes, all of them.
  let plainChecksum: UInt32
  /// Where the value starts in the plain bytes.
  let valueOffset: Int

  /// Bytes that the value takes on disk; in a cell, all values together.
  public var storedLength: Int { unsafe stored.count }

  /// Whether the record shares a cell with others.
  public var isInCell: Bool { PackedLayout.isInCell(offset) }

  /// Bytes of the key.
  public var keyLength: Int { unsafe keyPrefix.count + keyRest.count }

  /// The key, copied.
  public var key: [UInt8] { unsafe [UInt8](keyPrefix) + keyRest }

  /// Whether this is the record of a key, to judge by what stands there unchecked.
  public func isFor(_ key: UnsafeRawBufferPointer, keyspace: KeyspaceTag) -> Bool {
    guard key.count == keyLength, self.keyspace == keyspace else { return false }
    return unsafe key.prefix(keyPrefix.count).elementsEqual(keyPrefix)
      && key.dropFirst(keyPrefix.count).elementsEqual(keyRest)
  }

  /// The hash of the key under a store's seed.
  public func keyHash(_ seed: HashSeed) -> UInt64 {
    guard kind == .put || kind == .tombstone else { return 0 }
    let hash = KeyHash(seedLow: seed.low, seedHigh: seed.high, keyspace: keyspace)
    if unsafe keyPrefix.isEmpty { return unsafe hash.hash(keyRest) }
    return unsafe key.withUnsafeBytes { unsafe hash.hash($0) }
  }

  /// Whether all but the value has its checksum.
  public func headIsIntact(salt: UInt32) -> Bool {
    unsafe PackedChecksum.head(head, salt: salt, offset: headOffset) == headChecksum
  }
}

/// The checksum of all of a record, or of a cell, but its values.
enum PackedChecksum {
  /// Never 0, so that a record does not begin like the end of the log.
  static func head(_ bytes: UnsafeRawBufferPointer, salt: UInt32, offset: Int) -> UInt32 {
    let place = (UInt64(salt) | UInt64(truncatingIfNeeded: offset >> 3) << 32).littleEndian
    // Sound: the bytes of an integer are read while it stands.
    let start = unsafe withUnsafeBytes(of: place) { unsafe CRC32C.checksum(of: $0) }
    return max(1, unsafe CRC32C.checksum(of: bytes, continuing: start))
  }
}
