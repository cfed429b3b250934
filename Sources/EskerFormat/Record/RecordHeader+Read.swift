public import CEskerShims
public import Synchronization

extension RecordHeader {
  /// Reads the header at a place where a record may start, without looking at the body.
  ///
  /// Never reads past `limit` bytes, whatever they are. The first word is read with acquire ordering: a thread that sees a
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
    // Safety: `place` is aligned, and each read comes after a check that the limit covers it; an atomic word has the
    // representation of a plain one. Nothing after the first word changes once that is not zero, unless a hole is put there first,
    // or the record is dead.
    let firstWord = unsafe place.assumingMemoryBound(to: Atomic<UInt64>.self).pointee.load(ordering: .acquiring)
    if firstWord == 0 { return .end }
    guard limit >= 32 else { return .damaged(.truncated) }
    let view = unsafe RecordView(fieldsAt: place)
    let extensionWords = view.flags.extensionWords
    guard limit >= 32 &+ 8 &* extensionWords else { return .damaged(.truncated) }
    let checksum = unsafe esker_record_header_checksum(salt, offsetUnits, place, UInt32(extensionWords))
    guard checksum == UInt32(truncatingIfNeeded: UInt64(littleEndian: firstWord)) else {
      guard let size = RecordFiller.size(UInt64(littleEndian: firstWord)) else { return .damaged(.headerChecksum) }
      return size <= limit ? .record(RecordFiller.header(size: size)) : .damaged(.truncated)
    }
    return decode(view, limit: limit)
  }

  /// Decodes a header with a matching checksum whose extension words are within the limit.
  @inlinable
  @inline(__always)
  static func decode(_ view: RecordView, limit: Int) -> RecordRead {
    let flags = view.flags
    guard let kind = view.kind else { return .damaged(.unknownKind) }
    if flags.contains(.compressed) { return .damaged(.compressed) }
    let header = RecordHeader(
      sequence: view.sequence,
      kind: kind,
      keyHash: view.keyHash,
      keyLength: view.keyLength,
      valueLength: view.valueLength,
      expiry: view.expiry,
      keyspace: view.keyspace,
      batchContinues: flags.contains(.batchContinues),
      durableLag: UInt16(truncatingIfNeeded: view.lengths >> 48)
    )
    // The flags differ if an extension word holds a value that is expressed by omitting the word.
    guard header.isWellFormed, header.flags == flags else { return .damaged(.malformed) }
    return header.size <= limit ? .record(header) : .damaged(.truncated)
  }

  /// Whether the fields are within their limits and consistent.
  @inlinable
  @inline(__always)
  public var isWellFormed: Bool {
    guard sequence < 1 << 56, valueLength <= 1 << 30 else { return false }
    switch kind {
    case .put: return true
    case .tombstone: return valueLength == 0 && expiry == .max
    // One that removes a keyspace has its name for a key.
    case .reset: return (keyLength == 0 || keyspace.isRemoved) && valueLength == 0 && keyHash == 0 && expiry == .max
    case .seal: return keyLength == 0 && valueLength == 0 && keyHash == 0 && flags.isEmpty
    case .filler: return keyLength == 0 && valueLength == 0 && flags.isEmpty
    }
  }
}
