internal import EskerFormat
internal import EskerPlatform

/// How a packed record relates to a key that is looked up.
enum PackedMatch {
  /// The key's record.
  case visible
  /// The key's record, and it has expired.
  case expired
  /// Another key's record.
  case other
  /// A damaged record; `isKey` says whether its key has the bytes looked for.
  case damaged(RecordDamage, isKey: Bool)
}

// Safety: the caller keeps the segment mapped, pinned or under the writer's lock, and keeps key and destination. The view checks
// everything it reads against the segment's end. A destination has the length of the value, which `copyValue` checks again.
extension Keydir {
  /// Compares a key with that of a packed record. Neither reads nor verifies the value.
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
    // Before trusting that it is another key, verify it.
    if verifiesReads || !isKey, !entry.headIsIntact(salt: view.salt) { return .damaged(.headerChecksum, isKey: isKey) }
    guard isKey else { return .other }
    return entry.expiry == .max || entry.expiry > time.now ? .visible : .expired
  }

  /// The packed record at an address that a look-up returned.
  func packedEntry(at address: UInt64) throws(StoreError) -> (entry: PackedEntry, view: PackedSegmentView) {
    guard let (view, offset) = granules.place(of: address)?.packed, let entry = view.entry(at: offset) else {
      throw damage(at: address, .malformed, key: nil)
    }
    return (entry, view)
  }

  /// The value at an address that a look-up returned, decompressed.
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
    // All empty arrays share one buffer, which must not be written to.
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

  /// Copies the value of a packed record, decompressing it in a buffer of its segment if needed; returns the damage found, if
  /// any.
  func copyValue(
    of entry: PackedEntry,
    in view: PackedSegmentView,
    at address: UInt64,
    into destination: UnsafeMutableRawBufferPointer
  ) -> RecordDamage? {
    pageInWhole(address, size: entry.size)
    if let stored = unsafe view.storedValue(of: entry), stored.count >= VerifiedRecords.leastSize {
      return unsafe verifyingOnce(entry.headChecksum, at: address) { isVerified in
        unsafe view.copyValue(of: entry, into: destination, isVerified: isVerified, isHeadVerified: true)
      }
    }
    let isVerified = verifiesReads
    // The look-up has already compared the header's checksum.
    guard entry.isCompressed, entry.plainLength <= UnpackingBuffers.outputLength,
      let segment = granules.segment(of: address)
    else {
      return unsafe view.copyValue(of: entry, into: destination, isVerified: isVerified, isHeadVerified: true)
    }
    // Safety: a buffer holds the dictionary and `outputLength` bytes, which the guard above compares with. The dictionary always has
    // the same length here: a view that ends before its records finds no entry.
    return unsafe segment.unpackingBuffers.withBuffer(for: view.dictionary) { buffer in
      unsafe view.copyValue(
        of: entry,
        into: destination,
        isVerified: isVerified,
        isHeadVerified: true,
        buffer: buffer
      )
    }
  }

  /// Copies as much as fits of the value at an address that a look-up returned; returns its full length.
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
