public import CEskerShims
public import Synchronization

extension RecordHeader {
  /// Reads what stands at a place where a record may start, without looking at its body.
  ///
  /// Never reads past `limit` bytes, whatever they are. The first word is read with acquire ordering: whoever sees a
  /// record published by ``RecordEncoder/publish(_:at:)`` sees all of it.
  ///
  /// - Parameters:
  ///   - place: Where the record may start; aligned to eight bytes.
  ///   - limit: How many bytes may be read from there.
  ///   - salt: The segment's salt.
  ///   - offsetUnits: The place's offset in the file, in units of eight bytes.
  /// - Complexity: O(1); about 25 ns.
  @inlinable
  public static func read(
    at place: UnsafeRawPointer,
    limit: Int,
    salt: UInt32,
    offsetUnits: UInt32
  ) -> RecordRead {
    guard limit >= 8 else { return .end }
    // Sound: `place` is aligned and at least eight bytes long; an atomic word has the representation of a plain one.
    let firstWord = unsafe place.assumingMemoryBound(to: Atomic<UInt64>.self).pointee.load(ordering: .acquiring)
    if firstWord == 0 { return .end }
    guard limit >= 32 else { return .damaged(.truncated) }
    let word = unsafe UInt64(littleEndian: place.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    let extensionWords = RecordFlags(rawValue: UInt8(truncatingIfNeeded: word >> 60)).extensionWords
    guard limit >= 32 &+ 8 &* extensionWords else { return .damaged(.truncated) }
    let checksum = unsafe esker_record_header_checksum(salt, offsetUnits, place, UInt32(extensionWords))
    guard checksum == UInt32(truncatingIfNeeded: UInt64(littleEndian: firstWord)) else {
      return .damaged(.headerChecksum)
    }
    return unsafe decode(at: place, limit: limit)
  }

  /// Decodes a header whose checksum is right and whose extension words are within the limit.
  @inlinable
  @inline(__always)
  static func decode(at place: UnsafeRawPointer, limit: Int) -> RecordRead {
    let word = unsafe UInt64(littleEndian: place.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    let flags = RecordFlags(rawValue: UInt8(truncatingIfNeeded: word >> 60))
    guard let kind = RecordKind(rawValue: UInt8(truncatingIfNeeded: word >> 56) & 15) else {
      return .damaged(.unknownKind)
    }
    if flags.contains(.compressed) { return .damaged(.compressed) }
    let lengths = unsafe UInt64(littleEndian: place.loadUnaligned(fromByteOffset: 24, as: UInt64.self))
    var expiry = Int64.max
    var keyspace = KeyspaceTag.default
    var offset = 32
    if flags.contains(.expires) {
      expiry = unsafe Int64(littleEndian: place.loadUnaligned(fromByteOffset: offset, as: Int64.self))
      offset &+= 8
    }
    if flags.contains(.keyspace) {
      keyspace = unsafe KeyspaceTag(
        rawValue: UInt64(littleEndian: place.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      )
    }
    let header = unsafe RecordHeader(
      sequence: word & (1 << 56 - 1),
      kind: kind,
      keyHash: UInt64(littleEndian: place.loadUnaligned(fromByteOffset: 16, as: UInt64.self)),
      keyLength: Int((lengths >> 32) & 0xffff),
      valueLength: Int(lengths & 0xffff_ffff),
      expiry: expiry,
      keyspace: keyspace,
      batchContinues: flags.contains(.batchContinues),
      durableLag: UInt16(truncatingIfNeeded: lengths >> 48)
    )
    // The flags differ when an extension word holds what is said by leaving it out.
    guard header.isWellFormed, header.flags == flags else { return .damaged(.malformed) }
    return header.size <= limit ? .record(header) : .damaged(.truncated)
  }

  /// Whether the fields keep the limits and agree with each other.
  @inlinable
  @inline(__always)
  public var isWellFormed: Bool {
    guard sequence < 1 << 56, valueLength <= 1 << 30 else { return false }
    switch kind {
    case .put: return true
    case .tombstone: return valueLength == 0 && expiry == .max
    case .reset: return keyLength == 0 && valueLength == 0 && keyHash == 0 && expiry == .max
    case .seal: return keyLength == 0 && valueLength == 0 && keyHash == 0 && flags.isEmpty
    }
  }
}
