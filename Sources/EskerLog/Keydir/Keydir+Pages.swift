internal import EskerPlatform

extension Keydir {
  /// Decides whether the store fits into memory, and tells the kernel how to read its files. Must be called without locks under which
  /// no I/O is allowed.
  func reviewPages() {
    let segments = catalog.segments
    let readsIndexAhead = env.pages.review(
      log: segments.reduce(0) { $0 + $1.mapping.length },
      index: loadedCheckpoint?.byteCount ?? 0
    )
    for segment in segments { env.pages.advise(segment.mapping) }
    loadedCheckpoint?.setReadAhead(readsIndexAhead)
  }
}
