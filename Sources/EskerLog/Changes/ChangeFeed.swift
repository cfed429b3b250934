internal import EskerPlatform
internal import Synchronization

/// A reader of changes that merges know of as long as this object lives.
final class ChangeFeed: Sendable {
  private let engine: Engine
  private let cursor: ChangeCursor
  private let showsUnsynced: Bool

  /// How often a read-only store looks for new writes, in nanoseconds.
  private static let pollInterval: UInt64 = 5_000_000

  init(_ engine: Engine, since: UInt64?, keeping: Int, includingUnsynced: Bool) {
    self.engine = engine
    // What another process has synced is not known here.
    showsUnsynced = includingUnsynced || engine.options.readOnly
    if engine.options.readOnly {
      // A closed store says so when the first change is asked for.
      try? engine.refresh()
      cursor = engine.opening.withLock {
        engine.feeds.begin(engine, since: since, keeping: keeping, showsUnsynced: true)
      }
    } else {
      cursor = engine.feeds.begin(engine, since: since, keeping: keeping, showsUnsynced: showsUnsynced)
    }
  }

  deinit {
    engine.feeds.remove(cursor)
  }

  /// What a look at the log found.
  enum Step: Sendable {
    case change(LogChange)
    /// A write to a keyspace that was not listed when this store last looked.
    case unknownKeyspace
    /// The write with this number is not there yet.
    case nothing(next: UInt64)
    case end
  }

  func read() throws(StoreError) -> Step {
    if engine.options.readOnly { engine.followIfBehind() }
    let step = try read(isRefreshed: false)
    guard case .unknownKeyspace = step else { return step }
    // It was listed before it was written to. A closed store has all the names that it will have.
    try? engine.refresh()
    return try read(isRefreshed: true)
  }

  private func read(isRefreshed: Bool) throws(StoreError) -> Step {
    try cursor.reader.withLock { (reader) throws(StoreError) -> Step in
      try reader.read(engine, isRefreshed: isRefreshed)
    }
  }

  /// Suspends the task until there may be a write with that number to show, the task is cancelled, or the store is closed.
  ///
  /// - Throws: ``StoreError/syncFailed(errno:)`` when it cannot be made durable.
  func wait(for next: UInt64) async throws(StoreError) {
    if engine.options.readOnly {
      // Nobody tells a reader in another process.
      try? await Task.sleep(nanoseconds: Self.pollInterval)
    } else {
      await engine.feeds.wait(for: next, engine)
      if showsUnsynced || engine.publishedSequence < next { return }
      do throws(StoreError) { try await engine.waitDurableAsync(engine.publishedSequence) } catch {
        if error != .closed, error != .cancelled { throw error }
      }
    }
  }
}

/// Where a reader of changes stands; shared with merges.
final class ChangeCursor: Sendable {
  let reader: Guarded<ChangeReader>

  init(_ reader: ChangeReader) {
    self.reader = Guarded(reader, .feed)
  }
}
