internal import EskerFormat
internal import EskerPlatform

/// What a packed record is to somebody who looks for a key.
enum PackedMatch {
  /// The key's record.
  case visible
  /// The key's record, and it has expired.
  case expired
  /// Another key's.
  case other
  /// Not what was written; `isKey` says whether the key's bytes are those looked for.
  case damaged(RecordDamage, isKey: Bool)
}

// Safety: the caller keeps the segment mapped, pinned or under the writer's lock, and keeps key and destination. The view checks
// everything it reads against the segment's end. A destination has the length of the value, which `copyValue` checks again.
extension Keydir {
  /// Compares a key with that of a packed record. The value is neither read nor checked.
  @inline(never)
  func packedMatch(
    at place: GranuleTable.Place,
    _ key: UnsafeRawBufferPointer,
    _ tag: KeyspaceTag
  ) -> PackedMatch {
    guard let (view, offset) = place.packed, let entry = view.entry(at: offset) else {
      return .damaged(.malformed, isKey: false)
    }
    let isKey = unsafe entry.isFor(key, keyspace: tag)
    // Before believing that it is another key, check that the key is what was written.
    if verifiesReads || !isKey, !entry.headIsIntact(salt: view.salt) { return .damaged(.headerChecksum, isKey: isKey) }
    guard isKey else { return .other }
    return entry.expiry == .max || entry.expiry > time.now ? .visible : .expired
  }

  /// The packed record at an address that a look-up led to.
  func packedEntry(at address: UInt64) throws(StoreError) -> (entry: PackedEntry, view: PackedSegmentView) {
    guard let (view, offset) = granules.place(of: address)?.packed, let entry = view.entry(at: offset) else {
      throw damage(at: address, .malformed, key: nil)
    }
    return (entry, view)
  }

  /// The value at an address that a look-up led to, decompressed.
  @inline(never)
  func packedValue(at address: UInt64) throws(StoreError) -> [UInt8] {
    let (entry, view) = try packedEntry(at: address)
    return try value(of: entry, in: view, at: address)
  }

  /// The value of a packed record, decompressed.
  func value(
    of entry: PackedEntry,
    in view: PackedSegmentView,
    at address: UInt64
  ) throws(StoreError) -> [UInt8] {
    // An array of no capacity is one that all threads share, and it would be written to.
    guard entry.valueLength > 0 else {
      let nothing = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)
      if let found = unsafe copyValue(of: entry, in: view, at: address, into: nothing) {
        throw damage(at: address, found, key: entry.key)
      }
      return []
    }
    var found: RecordDamage?
    let value = unsafe [UInt8](unsafeUninitializedCapacity: entry.valueLength) { buffer, count in
      let bytes = UnsafeMutableRawBufferPointer(buffer)
      let destination = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[..<entry.valueLength])
      found = unsafe copyValue(of: entry, in: view, at: address, into: destination)
      count = found == nil ? entry.valueLength : 0
    }
    if let found { throw damage(at: address, found, key: entry.key) }
    return value
  }

  /// Copies the value of a packed record, in a room of its segment if there is something to decompress.
  func copyValue(
    of entry: PackedEntry,
    in view: PackedSegmentView,
    at address: UInt64,
    into destination: UnsafeMutableRawBufferPointer
  ) -> RecordDamage? {
    let isVerified = verifiesReads
    // The look-up that led here has compared the header's checksum.
    guard entry.isCompressed, entry.plainLength <= UnpackingRooms.outputLength,
      let segment = granules.segment(of: address)
    else {
      return unsafe view.copyValue(of: entry, into: destination, isVerified: isVerified, isHeadVerified: true)
    }
    // Safety: a room holds the dictionary and `outputLength` bytes, which the guard above compares with. The dictionary always has
    // the same length here: a view that ends before its records finds no entry.
    return unsafe segment.rooms.withRoom(for: view.dictionary) { room in
      unsafe view.copyValue(
        of: entry,
        into: destination,
        isVerified: isVerified,
        isHeadVerified: true,
        room: room
      )
    }
  }

  /// Copies the value at an address that a look-up led to as far as it fits; its whole length.
  @inline(never)
  func packedValue(at address: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StoreError) -> Int {
    let (entry, view) = try packedEntry(at: address)
    if buffer.count >= entry.valueLength {
      let destination = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<entry.valueLength])
      if let found = unsafe copyValue(of: entry, in: view, at: address, into: destination) {
        throw damage(at: address, found, key: entry.key)
      }
    } else {
      let value = try value(of: entry, in: view, at: address)
      unsafe buffer.copyBytes(from: value.prefix(buffer.count))
    }
    return entry.valueLength
  }
}
