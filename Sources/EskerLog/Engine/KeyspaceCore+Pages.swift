internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform

// Safety: the caller keeps the key. The pin lasts until the addresses have been used, and no byte is read beyond a record's header
// before it is known to be in memory. An incarnation stays allocated as long as the core.
extension KeyspaceCore {
  /// Whether a look-up would wait for a device. The pages that it would wait for are then being read.
  ///
  /// As the pages may go at any time, and not all of them are asked about, no is a good guess.
  @usableFromInline
  func mustWait(for key: UnsafeRawBufferPointer) -> Bool {
    let pages = engine.env.pages
    // A reader of a store that another process writes may have to read what is new.
    guard engine.env.isUnhindered else { return true }
    guard pages.mayWait else { return false }
    let isAtHand = unsafe isAtHand(key)
    pages.noteAtHand(isAtHand)
    return !isAtHand
  }

  private func isAtHand(_ key: UnsafeRawBufferPointer) -> Bool {
    let hash = unsafe incarnation.pointee.hash.hash(key)
    guard let pin = enterIfUnhindered() else { return false }
    defer { keydir.epochs.exit(pin) }
    if let line = unsafe keydir.reader.addressInImage(of: hash), unsafe !PageCache.holds(line, byteCount: 64) {
      return false
    }
    var probe = keydir.reader.probe(hash)
    guard let address = probe.next(), let place = keydir.granules.place(of: address) else { return true }
    return pageIn(place)
  }

  /// Begins to read the record at a place; true if it is in memory.
  private func pageIn(_ place: GranuleTable.Place) -> Bool {
    let most = min(place.limit, MemoryPage.size)
    guard unsafe PageCache.holds(place.pointer, byteCount: min(most, Self.headerSize)) else {
      unsafe PageCache.fetch(place.pointer, byteCount: min(most, Self.likelySize))
      return false
    }
    // A packed value's length says only its entry, which is damaged if it is implausible.
    let size = place.packing == 0 ? unsafe RecordView(at: place.pointer, limit: place.limit)?.size ?? 0 : most
    // Most records end on the page that was just asked about.
    let start = unsafe Int(bitPattern: place.pointer) & (MemoryPage.size - 1)
    if start + max(size, Self.headerSize) <= MemoryPage.size { return true }
    if unsafe PageCache.holds(place.pointer, byteCount: max(size, Self.headerSize)) { return true }
    unsafe PageCache.fetch(place.pointer, byteCount: size)
    return false
  }

  /// The longest header of a record.
  private static var headerSize: Int { 40 }

  /// What is read of a record whose length is not known: one page, or two if it lies across their border.
  static var likelySize: Int { 256 }

  /// Reads what a write of the key is going to look at, before it takes the lock under which others would wait for that too.
  @inline(__always)
  func anticipateBeyondMemory(_ key: UnsafeRawBufferPointer) {
    if engine.env.pages.isBeyondMemory { unsafe touch(key) }
  }

  /// Reads what a write of the key is going to look at.
  @inline(never)
  func touch(_ key: UnsafeRawBufferPointer) {
    let hash = unsafe incarnation.pointee.hash.hash(key)
    guard let pin = enterIfUnhindered() else { return }
    defer { keydir.epochs.exit(pin) }
    var probe = keydir.reader.probe(hash)
    while let address = probe.next() {
      guard let place = keydir.granules.place(of: address), let record = StoredRecord(at: place) else { continue }
      if unsafe record.isFor(hash, key, incarnation.pointee.tag) { break }
    }
  }
}

// Safety: keys lie in the batch's bytes, which are lent until both loops have ended.
extension Engine {
  /// Asks for all that a batch is going to look at, then waits for it, before the batch takes the lock under which others would.
  func anticipateBeyondMemory(_ batch: borrowing WriteBatch) {
    guard env.pages.isBeyondMemory else { return }
    unsafe batch.bytes.withUnsafeBytes { bytes in
      let keys = batch.keys
      for key in keys {
        _ = unsafe key.keyspace.mustWait(for: UnsafeRawBufferPointer(rebasing: bytes[key.place]))
      }
      for key in keys { unsafe key.keyspace.touch(UnsafeRawBufferPointer(rebasing: bytes[key.place])) }
    }
  }
}
