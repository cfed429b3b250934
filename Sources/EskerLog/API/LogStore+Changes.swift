internal import EskerPlatform

extension LogStore {
  /// The writes of a store after one point in its history, in order, each once; see
  /// ``LogStore/changes(since:keeping:includingUnsynced:)``.
  ///
  /// All iterators share one position: after a loop was left or ended with an error, another loop continues where it stopped. Thread
  /// safety: any task; if several iterate at once, each change goes to one of them.
  public struct Changes: AsyncSequence, Sendable {
    private let feed: ChangeFeed

    init(_ feed: ChangeFeed) {
      self.feed = feed
    }

    /// An iterator that continues where the last one stopped.
    public func makeAsyncIterator() -> Iterator {
      Iterator(feed)
    }

    /// The next change if there is one already, for programs that do not wait in a task: nil if there is none yet, or the store is
    /// closed and everything was delivered.
    ///
    /// Never waits for a write, and makes none durable: one that is not yet is not shown yet.
    ///
    /// - Throws: What ``Iterator/next(isolation:)`` throws.
    /// - Complexity: O(size of the change). The first call after `since` reads the headers of one segment up to that write.
    public func poll() throws(StoreError) -> LogChange? {
      while true {
        switch try feed.read() {
        case .change(let change): return change
        case .nothing, .end: return nil
        case .unknownKeyspace: break
        }
      }
    }

    /// Reads changes from the log.
    public struct Iterator: AsyncIteratorProtocol {
      private let feed: ChangeFeed

      fileprivate init(_ feed: ChangeFeed) {
        self.feed = feed
      }

      /// The next change; suspends until there is one. nil if the task was cancelled, or the store is closed and everything was
      /// delivered.
      ///
      /// - Throws: ``StoreError/historyGone(since:oldest:)``, on every call from then on; ``StoreError/damaged(_:reason:)``, once
      ///   for each damaged range, which the next call skips; ``StoreError/closed`` for a feed of a closed store;
      ///   ``StoreError/syncFailed(errno:)`` if the next change cannot be made durable.
      /// - Complexity: O(size of the change). The first call after `since` reads the headers of one segment up to that write.
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
}

extension LogStore {
  /// The writes after `since`, including future ones as they are made.
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
  /// Changes are read from the log on demand: nothing is buffered, and a slow reader delays no writer. The position is set by
  /// this call. Only durable writes are shown, so a crash never undoes what a reader has seen; a waiting reader triggers syncs,
  /// one for all writes made meanwhile. No change is shown when a value expires, when a merge moves it, or when a store with a
  /// capacity evicts it.
  ///
  /// Works in a read-only store too, which checks for new writes every few milliseconds and shows all of them.
  ///
  /// - Parameters:
  ///   - since: the last write not to show: a ``LogChange/sequence``, a ``Snapshot/sequence`` or the result of a write; nil to
  ///     show only writes after this call.
  ///   - keeping: how many bytes of merged segments to keep on disk while the reader has not read them. Beyond that it gets
  ///     ``StoreError/historyGone(since:oldest:)``.
  ///   - includingUnsynced: whether to show writes at once, although a power failure may undo them. For readers whose state does
  ///     not outlive this process.
  /// - Complexity: O(segments).
  public func changes(
    since: SequenceNumber? = nil,
    keeping: Int = 256 << 20,
    includingUnsynced: Bool = false
  ) -> LogStore.Changes {
    LogStore.Changes(
      ChangeFeed(engine, since: since?.rawValue, keeping: keeping, includingUnsynced: includingUnsynced)
    )
  }
}
