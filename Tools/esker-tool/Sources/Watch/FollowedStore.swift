import Esker
import Synchronization

/// A store opened read-only beside its writer, for as long as it is looked at.
final class FollowedStore: Sendable {
  private let path: String
  private let start = ContinuousClock.now
  private let notices = StoreNotices()
  private let opened = Mutex<LogStore?>(nil)

  init(path: String) {
    self.path = path
  }

  deinit { close() }

  /// Calls `body` with the store as it is now.
  func withStore<R: Sendable>(_ body: (LogStore) -> R) throws(StoreError) -> R {
    try opened.withLock { (opened) throws(StoreError) in
      do throws(StoreError) {
        return body(try current(&opened))
      } catch {
        // The writer may have merged away what was being read, or recreated the store: open it again.
        try? opened?.close()
        opened = nil
        return body(try current(&opened))
      }
    }
  }

  /// What the process that has the store open for writing has published, or else what its log shows.
  func sample() throws(StoreError) -> StoreSample {
    if let published = try LogStore.publishedStatistics(at: path) {
      close()
      return StoreSample(published, now: Options.Clock.system.now())
    }
    return try withStore { StoreSample($0, seconds: (ContinuousClock.now - start).seconds) }
  }

  func close() {
    opened.withLock { opened in
      try? opened?.close()
      opened = nil
    }
  }

  private func current(_ opened: inout LogStore?) throws(StoreError) -> LogStore {
    if let opened {
      try opened.refresh()
      return opened
    }
    var options = Options()
    options.readOnly = true
    let notices = notices
    options.onEvent = { notices.receive($0) }
    let store = try LogStore(at: path, options: options)
    opened = store
    return store
  }
}
