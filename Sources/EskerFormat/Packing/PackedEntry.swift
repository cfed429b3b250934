/// A record in a packed segment, in place. It has not been verified.
///
/// It borrows the segment's memory: the creator keeps that alive and unchanged.
public struct PackedEntry {
  /// The record's sequence number.
  public let sequence: UInt64
  /// The kind of record.
  public let kind: RecordKind
  /// When the record expires; `Int64.max` means never.
  public let expiry: Int64
  /// The keyspace of the key.
  public let keyspace: KeyspaceTag
  /// The offset that the index stores for the record.
  public let offset: Int
  /// The bytes the record takes; in a cell, its share.
  public let size: Int
  /// The length in bytes of the value.
  public let valueLength: Int

  /// The key consists of the prefix common to all keys of a cell, and the rest.
  let keyPrefix: ByteRun
  let keyRest: ByteRun
  /// The bytes covered by the header's checksum.
  let head: ByteRun
  /// The checksum stored for everything but the value, the value's checksum included.
  public let headChecksum: UInt32
  /// The offset that the header's checksum was made for.
  let headOffset: Int
  /// The value as stored, or the values of its group in a cell.
  let stored: ByteRun
  /// The length in bytes of `stored` after decompression.
  public let plainLength: Int
  /// Whether the value must be decompressed.
  public let isCompressed: Bool
  /// The checksum of all the uncompressed bytes.
  let plainChecksum: UInt32
  /// Where the value starts in the uncompressed bytes.
  let valueOffset: Int
  /// The same for records whose values are compressed together, and for no others.
  let groupID: Int

  /// The bytes that the value takes on disk; in a cell, all values of its group together.
  public var storedLength: Int { stored.count }

  /// Whether the record shares a cell with others.
  public var isInCell: Bool { PackedLayout.isInCell(offset) }

  /// The length in bytes of the key.
  public var keyLength: Int { keyPrefix.count + keyRest.count }

  /// The length in bytes that the record has as long as it is not packed.
  public var unpackedSize: Int {
    RecordLayout.size(keyLength: keyLength, valueLength: valueLength, expiry: expiry, keyspace: keyspace)
  }

  /// A copy of the key.
  public var key: [UInt8] {
    var key = [UInt8](keyPrefix)
    key.append(contentsOf: keyRest)
    return key
  }

  /// Whether this record is for the given key, going by its unverified bytes.
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

  /// The value within the uncompressed bytes.
  func value(in plain: ByteRun) -> ByteRun { plain[valueOffset..<valueOffset + valueLength] }

  /// Whether uncompressed bytes match their checksum.
  func isIntact(_ plain: ByteRun) -> Bool { plain.checksum() == plainChecksum }

  /// Whether everything but the value matches its checksum.
  public func headIsIntact(salt: UInt32) -> Bool {
    PackedChecksum.head(head, salt: salt, offset: headOffset) == headChecksum
  }
}

/// The checksum of everything in a record, or in a cell, except its values.
enum PackedChecksum {
  /// Never 0, so that a record never begins with the mark for the end of the log.
  static func head(_ bytes: ByteRun, salt: UInt32, offset: Int) -> UInt32 {
    let place = UInt64(salt) | UInt64(truncatingIfNeeded: offset >> 3) << 32
    return max(1, bytes.checksum(continuing: CRC32C.checksum(ofWord: place)))
  }
}
