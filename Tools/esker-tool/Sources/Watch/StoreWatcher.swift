import Esker

/// Samples a store from outside: from its process's published statistics, or else from the log.
struct StoreWatcher {
  private let path: String
  private let start = ContinuousClock.now
  private let followed: FollowedStore

  init(path: String) {
    self.path = path
    followed = FollowedStore(path: path)
  }

  func sample() throws(StoreError) -> StoreSample {
    if let published = try LogStore.publishedStatistics(at: path) {
      followed.close()
      return StoreSample(published, now: Options.Clock.system.now())
    }
    return try followed.withStore { StoreSample($0, seconds: (ContinuousClock.now - start).seconds) }
  }
}
