internal import EskerPlatform

/// The writes of a store from one place in its history on, in their order, each once; see
/// ``LogStore/changes(since:keeping:includingUnsynced:)``.
///
/// There is one position, which all iterators share: a loop that was left, or that ended with an error, may be followed by
/// another that goes on behind it. Thread safety: any task; of several that iterate at once, each gets other changes.
public struct LogChanges: AsyncSequence, Sendable {
  private let feed: ChangeFeed

  init(_ feed: ChangeFeed) {
    self.feed = feed
  }

  /// Goes on where the last iterator stopped.
  public func makeAsyncIterator() -> Iterator {
    Iterator(feed)
  }

  /// Reads changes from the log.
  public struct Iterator: AsyncIteratorProtocol {
    private let feed: ChangeFeed

    fileprivate init(_ feed: ChangeFeed) {
      self.feed = feed
    }

    /// The next change, suspended until there is one; nil when the task was cancelled, or the store is closed and everything
    /// was delivered.
    ///
    /// - Throws: ``StoreError/historyGone(since:oldest:)``, each time from then on; ``StoreError/damaged(_:reason:)``, once for
    ///   each damaged place, and the next call goes on behind it; ``StoreError/closed`` for a feed of a closed store;
    ///   ``StoreError/syncFailed(errno:)`` when what comes next cannot be made durable.
    /// - Complexity: O(size of the change). The first call after `since` was given reads the headers of one segment up to
    ///   there.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(StoreError) -> LogChange? {
      while true {
        if Task.isCancelled { return nil }
        switch try feed.read() {
        case .change(let change): return change
        case .end: return nil
        case .nothing(let next): try await feed.wait(for: next)
        case .unknownKeyspace: break
        }
      }
    }
  }
}

extension LogStore {
  /// Shows every write after `since`, and goes on with those to come.
  ///
  /// ```swift
  /// let snapshot = try store.snapshot()
  /// // copy its entries, then
  /// for try await change in store.changes(since: snapshot.sequence) {
  ///   switch change.kind {
  ///   case .put(let value, let expiry): copy.put(value, change.key, expiry)
  ///   case .remove: copy.remove(change.key)
  ///   case .removeAll: copy.removeAll()
  ///   }
  /// }
  /// ```
  ///
  /// Changes are read from the log when they are asked for: nothing is buffered, and a slow reader slows nobody down. The
  /// position is taken at the call. Only what is durable is shown, so no crash takes back what a reader has seen: a reader that
  /// waits has the log synced, one sync for all that was written meanwhile. Expiry is no write, so nothing is shown when a
  /// value expires, nor when a merge moves it or a full cache evicts it.
  ///
  /// Works in a read-only store too, which looks for new writes every few milliseconds, and shows them all.
  ///
  /// - Parameters:
  ///   - since: the last write not to show: of a ``LogChange/sequence``, a ``Snapshot/sequence`` or what a write returned;
  ///     nil for all so far.
  ///   - keeping: while the reader is behind a merge, what was merged away before it was read is kept on disk, up to so
  ///     many bytes. Beyond it the reader gets ``StoreError/historyGone(since:oldest:)``.
  ///   - includingUnsynced: also shows, at once, what a power cut may take back. For what does not outlive this process either.
  /// - Complexity: O(segments).
  public func changes(
    since: SequenceNumber? = nil,
    keeping: Int = 256 << 20,
    includingUnsynced: Bool = false
  ) -> LogChanges {
    LogChanges(
      ChangeFeed(engine, since: since?.rawValue, keeping: keeping, includingUnsynced: includingUnsynced)
    )
  }
}
