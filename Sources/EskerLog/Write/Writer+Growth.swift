internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

extension Writer {
  /// Allocates and prefaults pages ahead of the writer, so that writers neither fault nor wait for the file system.
  ///
  /// For writers that sync, it takes small steps and syncs each: a page that was written once is overwritten in place, which
  /// spares the file system's journal, and prefaulted pages are dirty, so the next sync would have to write them. When each sync
  /// covers many records, and so writes whole pages anyway, that would write them twice: then it only allocates.
  func growTail() {
    let (current, last) = withLock { ($0.tail, $0.tailEnd) }
    guard let tail = current, !tail.isSealed else { return }
    // Relaxed, here and below: hints of how far to go. `Segment.grow` looks again under its lock.
    let offset = tail.reached.load(ordering: .relaxed)
    let isSyncing = commits.hasDemand
    // Keeps small stores small: never prefault more than has been written.
    let ahead = min(isSyncing ? Self.syncedAhead : Self.bufferedAhead, max(64 << 10, offset))
    let step = isSyncing ? Self.syncedStep : Self.bufferedStep
    let target = min(last, offset + ahead)
    var populated = max(tail.populated.load(ordering: .relaxed), offset & ~4095)
    while populated < target, !tail.isSealed, !env.isEnding {
      let end = min(target, populated + step)
      do throws(PlatformError) {
        try grow(tail, to: end)
        if tail.isSealed { return }
        if isSyncing, commits.coversMany {
          populated = end
          continue
        }
        try tail.mapping.populate(populated..<end)
        if isSyncing {
          let sync = env.session?.beginSync()
          var isDone = false
          defer { if let sync { env.session?.end(sync, failed: !isDone) } }
          try tail.sync()
          isDone = true
        }
      } catch {
        commits.noteFailure(error)
        // Writers will run into the error themselves and throw it.
        return
      }
      populated = end
      tail.populated.store(populated, ordering: .relaxed)
    }
  }
}
