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
    public func poll() throws(StoreError) -> LogChange? { try feed.poll() }

    /// The same writes, each batch as one element.
    ///
    /// The position is that of the changes themselves: of both, each continues where the other stopped, be it within a batch.
    public var batches: Batches { Batches(feed) }

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
        try await feed.next(isolation: actor)
      }
    }
  }
}

extension LogStore.Changes {
  /// The writes of a store, each with all its changes: those of a batch or of a transaction together, any other change alone. See
  /// ``LogStore/Changes/batches``.
  ///
  /// ```swift
  /// for try await batch in store.changes(since: position).batches {
  ///   copy.transaction { for change in batch.changes { apply(change) } }
  ///   position = batch.sequence
  /// }
  /// ```
  ///
  /// A batch is whole, in every keyspace that it wrote to, also after merges, and in a store that only reads. What is left out: changes
  /// of keyspaces that were removed since; those up to `since`, where that is a number within the batch; those that can no longer
  /// be read, which are an error between two parts of the batch.
  ///
  /// Thread safety: any task; if several iterate at once, each batch goes to one of them.
  public struct Batches: AsyncSequence, Sendable {
    private let feed: ChangeFeed

    fileprivate init(_ feed: ChangeFeed) {
      self.feed = feed
    }

    /// An iterator that continues where the last one stopped.
    public func makeAsyncIterator() -> Iterator {
      Iterator(feed)
    }

    /// The next batch if there is one already, for programs that do not wait in a task; see ``LogStore/Changes/poll()``.
    ///
    /// - Throws: What ``LogStore/Changes/Iterator/next(isolation:)`` throws.
    /// - Complexity: O(size of the batch), which is copied as a whole.
    public func poll() throws(StoreError) -> LogChange.Batch? { try feed.poll() }

    /// Reads batches from the log.
    public struct Iterator: AsyncIteratorProtocol {
      private let feed: ChangeFeed

      fileprivate init(_ feed: ChangeFeed) {
        self.feed = feed
      }

      /// The next batch; suspends until there is one. nil if the task was cancelled, or the store is closed and everything was
      /// delivered.
      ///
      /// - Throws: What ``LogStore/Changes/Iterator/next(isolation:)`` throws.
      /// - Complexity: O(size of the batch), which is copied as a whole.
      public mutating func next(
        isolation actor: isolated (any Actor)? = #isolation
      ) async throws(StoreError) -> LogChange.Batch? {
        try await feed.next(isolation: actor)
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
