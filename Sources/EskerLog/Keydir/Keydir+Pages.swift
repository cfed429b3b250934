internal import EskerPlatform

extension Keydir {
  /// Decides whether the store fits into memory, and tells the kernel how to read its files. Must be called without locks under which
  /// no I/O is allowed.
  func reviewPages() {
    let segments = catalog.segments
    let readsIndexAhead = env.pages.review(
      log: segments.reduce(0) { $0 + $1.mapping.length },
      index: loadedCheckpoint?.indexByteCount ?? 0
    )
    for segment in segments { env.pages.advise(segment.mapping) }
    loadedCheckpoint?.setReadAhead(readsIndexAhead)
  }
}

// Safety: only addresses are passed on, of records that are mapped as long as the caller uses them.
extension Keydir {
  /// Asks for all pages of a record that has more than one, beyond memory: one after the other, each would be waited for.
  @inline(__always)
  func pageInWhole(_ pointer: UnsafeRawPointer, size: Int) {
    if size > 4096, env.pages.isBeyondMemory { unsafe PageCache.fetch(pointer, byteCount: size) }
  }

  /// The same for a packed record at an address that a look-up returned.
  func pageInWhole(_ address: UInt64, size: Int) {
    if let place = granules.place(of: address) { unsafe pageInWhole(place.pointer, size: size) }
  }
}
