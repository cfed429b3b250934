import Esker

/// Samples a store from outside: from its process's published statistics, or else from the log.
final class StoreWatcher {
  private let path: String
  private let start = ContinuousClock.now
  private var follower: LogStore?
  private let notices = StoreNotices()

  init(path: String) {
    self.path = path
  }

  deinit { try? follower?.close() }

  func sample() throws(StoreError) -> StoreSample {
    if let published = try LogStore.publishedStatistics(at: path) {
      close()
      return StoreSample(published, now: Options.Clock.system.now())
    }
    do throws(StoreError) {
      return try follow()
    } catch {
      // The writer may have merged away what the follower was reading, or recreated the store: reopen it.
      close()
      return try follow()
    }
  }

  private func follow() throws(StoreError) -> StoreSample {
    let store: LogStore
    if let follower {
      store = follower
    } else {
      var options = Options()
      options.readOnly = true
      let notices = notices
      options.onEvent = { notices.hear($0) }
      store = try LogStore(at: path, options: options)
      follower = store
    }
    // A read catches up with what was logged meanwhile.
    _ = try store.contains("")
    return StoreSample(store, seconds: (ContinuousClock.now - start).seconds)
  }

  private func close() {
    try? follower?.close()
    follower = nil
  }
}
