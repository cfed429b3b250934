internal import EskerPlatform
internal import Synchronization

/// A reader of changes, which merges take into account as long as this object lives.
final class ChangeFeed: Sendable {
  private let engine: Engine
  private let cursor: ChangeCursor
  private let showsUnsynced: Bool

  /// How often a read-only store checks for new writes, in nanoseconds.
  private static let pollInterval: UInt64 = 5_000_000

  init(_ engine: Engine, since: UInt64?, keeping: Int, includingUnsynced: Bool) {
    self.engine = engine
    // A read-only store does not know what the writer's process has synced.
    let showsUnsynced = includingUnsynced || engine.env.options.readOnly
    self.showsUnsynced = showsUnsynced
    if engine.env.isFollowing || engine.env.isSuspended {
      // If the store is closed, the first read throws.
      try? engine.follower.refresh()
      cursor = engine.follower.holding {
        engine.feeds.begin(since: since, keeping: keeping, showsUnsynced: showsUnsynced)
      }
    } else {
      cursor = engine.feeds.begin(since: since, keeping: keeping, showsUnsynced: showsUnsynced)
    }
  }

  deinit {
    engine.feeds.remove(cursor)
  }

  /// The next change or batch, if there is one already.
  func poll<Element: FeedElement>() throws(StoreError) -> Element? {
    while true {
      switch try read(Element.self) {
      case .next(let element): return element
      case .nothing, .end: return nil
      case .unknownKeyspace: break
      }
    }
  }

  /// The next change or batch; suspends until there is one. nil if the task was cancelled, or the store is closed and everything
  /// was delivered.
  func next<Element: FeedElement>(
    isolation actor: isolated (any Actor)?
  ) async throws(StoreError) -> Element? {
    while true {
      if Task.isCancelled { return nil }
      switch try read(Element.self) {
      case .next(let element): return element
      case .end: return nil
      case .nothing(let next): try await wait(for: next)
      case .unknownKeyspace: break
      }
    }
  }

  private func read<Element: FeedElement>(_ type: Element.Type) throws(StoreError) -> ChangeReader.Step<Element> {
    if engine.env.isFollowing { engine.follower.followIfBehind() }
    let step = try read(type, isRefreshed: false)
    guard case .unknownKeyspace = step else { return step }
    // A keyspace is listed before it is written to. The feed of a closed store has noted all there were.
    try? engine.follower.refresh()
    return try read(type, isRefreshed: true)
  }

  private func read<Element: FeedElement>(
    _ type: Element.Type,
    isRefreshed: Bool
  ) throws(StoreError) -> ChangeReader.Step<Element> {
    try cursor.reader.withLock { (reader) throws(StoreError) -> ChangeReader.Step<Element> in
      try type.read(&reader, engine.writer, isRefreshed: isRefreshed)
    }
  }

  /// Suspends the task until there may be a write with this number to report, the task is cancelled, or the store is
  /// closed.
  ///
  /// - Throws: ``StoreError/syncFailed(errno:)`` if the write cannot be made durable.
  private func wait(for next: UInt64) async throws(StoreError) {
    if engine.env.isFollowing {
      // A reader in another process is not notified.
      try? await Task.sleep(nanoseconds: Self.pollInterval)
    } else {
      await engine.feeds.wait(for: next)
      if showsUnsynced || engine.publishedSequence < next { return }
      do throws(StoreError) { try await engine.waitDurableAsync(engine.publishedSequence) } catch {
        switch error {
        // Of what another process has written, its next manifest tells.
        case .closed, .cancelled, .suspended: break
        default: throw error
        }
      }
    }
  }
}
