/// A record in a packed segment, in place. Whether it is intact has not been looked at.
///
/// It borrows the segment's memory: the maker keeps that alive and unchanged.
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
  let keyPrefix: ByteRun
  let keyRest: ByteRun
  /// What the header's checksum covers, without the checksum itself.
  let head: ByteRun
  let headChecksum: UInt32
  /// Where the header's checksum was made for.
  let headOffset: Int
  /// The value, or the values of the whole cell, as they lie on disk.
  let stored: ByteRun
  /// Bytes of `stored` after decompression; as many as there are if they are not compressed.
  public let plainLength: Int
  /// Whether the value has to be decompressed.
  public let isCompressed: Bool
  /// Of the plain bytes, all of them.
  let plainChecksum: UInt32
  /// Where the value starts in the plain bytes.
  let valueOffset: Int

  /// Bytes that the value takes on disk; in a cell, all values together.
  public var storedLength: Int { stored.count }

  /// Whether the record shares a cell with others.
  public var isInCell: Bool { PackedLayout.isInCell(offset) }

  /// Bytes of the key.
  public var keyLength: Int { keyPrefix.count + keyRest.count }

  /// The key, copied.
  public var key: [UInt8] {
    var key = [UInt8](keyPrefix)
    key.append(contentsOf: keyRest)
    return key
  }

  /// Whether this is the record of a key, to judge by what stands there unchecked.
  public func isFor(_ key: UnsafeRawBufferPointer, keyspace: KeyspaceTag) -> Bool {
    // Safety: the caller keeps the key until this returns.
    let key = unsafe ByteRun(key)
    guard key.count == keyLength, self.keyspace == keyspace else { return false }
    return key[0..<keyPrefix.count].isEqual(to: keyPrefix) && key[keyPrefix.count..<key.count].isEqual(to: keyRest)
  }

  /// The hash of the key under a store's seed.
  public func keyHash(_ seed: HashSeed) -> UInt64 {
    guard kind == .put || kind == .tombstone else { return 0 }
    let hash = KeyHash(seedLow: seed.low, seedHigh: seed.high, keyspace: keyspace)
    return keyPrefix.isEmpty ? hash.hash(keyRest) : key.lend { hash.hash($0) }
  }

  /// The value, out of the plain bytes.
  func value(in plain: ByteRun) -> ByteRun { plain[valueOffset..<valueOffset + valueLength] }

  /// Whether these plain bytes, decompressed or as they lie on disk, have their checksum.
  func isIntact(_ plain: ByteRun) -> Bool { plain.checksum() == plainChecksum }

  /// Whether all but the value has its checksum.
  public func headIsIntact(salt: UInt32) -> Bool {
    PackedChecksum.head(head, salt: salt, offset: headOffset) == headChecksum
  }
}

/// The checksum of all of a record, or of a cell, but its values.
enum PackedChecksum {
  /// Never 0, so that a record does not begin like the end of the log.
  static func head(_ bytes: ByteRun, salt: UInt32, offset: Int) -> UInt32 {
    let place = UInt64(salt) | UInt64(truncatingIfNeeded: offset >> 3) << 32
    return max(1, bytes.checksum(continuing: CRC32C.checksum(ofWord: place)))
  }
}
