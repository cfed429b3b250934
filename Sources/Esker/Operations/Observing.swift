extension ObservableStorage {
  /// Calls `body` with every change from now on, until the observation is cancelled or released; see ``observe(only:_:)``.
  public func observe(
    _ body: @escaping @Sendable (StorageChange<Key, Value>) -> Void
  ) throws(StorageError) -> ObservationToken {
    try observe(only: nil, body)
  }

  /// Calls `body` with every change of one key from now on; see ``observe(only:_:)``.
  public func observe(
    _ key: Key,
    _ body: @escaping @Sendable (StorageChange<Key, Value>) -> Void
  ) throws(StorageError) -> ObservationToken {
    try observe(only: key, body)
  }

  /// Calls `body` with every change from now on, with all that a batch did at once; see ``observeBatches(only:_:)``.
  public func observeBatches(
    _ body: @escaping @Sendable (StorageChange<Key, Value>.Batch) -> Void
  ) throws(StorageError) -> ObservationToken {
    try observeBatches(only: nil, body)
  }

  /// Calls `body` with every change of one key from now on, with all that a batch did to it at once; see ``observeBatches(only:_:)``.
  public func observeBatches(
    _ key: Key,
    _ body: @escaping @Sendable (StorageChange<Key, Value>.Batch) -> Void
  ) throws(StorageError) -> ObservationToken {
    try observeBatches(only: key, body)
  }

  /// Every change from now on, for a task to await. At most `buffer` of them are queued; changes for which there is no room are
  /// counted and reported as `.missed`, as soon as the queue is empty or has room again.
  ///
  /// The observation ends when the sequence and its iterators are gone, as after `break`, or when the task that awaits a change is
  /// cancelled. The sequence ends when the store is closed. It is for one task: of two that iterate, each gets some of the changes.
  ///
  /// - Throws: as ``observe(only:_:)``.
  public func changes(
    buffer: Int = 1024
  ) throws(StorageError) -> some AsyncSequence<StorageChange<Key, Value>, Never> & Sendable {
    let feed = ChangeFeed<StorageChange<Key, Value>>(buffer: buffer)
    return feed.elements(until: try observe { feed.add($0) })
  }

  /// Every change of one key from now on; see ``changes(buffer:)``.
  public func changes(
    forKey key: Key,
    buffer: Int = 1024
  ) throws(StorageError) -> some AsyncSequence<StorageChange<Key, Value>, Never> & Sendable {
    let feed = ChangeFeed<StorageChange<Key, Value>>(buffer: buffer)
    return feed.elements(until: try observe(key) { feed.add($0) })
  }

  /// Every change from now on, for a task to await, with all that a batch did as one element. Each element takes one of the `buffer`
  /// places, however many changes it has; see ``changes(buffer:)``.
  ///
  /// - Throws: as ``observe(only:_:)``.
  public func batches(
    buffer: Int = 1024
  ) throws(StorageError) -> some AsyncSequence<StorageChange<Key, Value>.Batch, Never> & Sendable {
    let feed = ChangeFeed<StorageChange<Key, Value>.Batch>(buffer: buffer)
    return feed.elements(until: try observeBatches { feed.add($0) })
  }

  /// Every change of one key from now on, with all that a batch did to it as one element; see ``batches(buffer:)``.
  public func batches(
    forKey key: Key,
    buffer: Int = 1024
  ) throws(StorageError) -> some AsyncSequence<StorageChange<Key, Value>.Batch, Never> & Sendable {
    let feed = ChangeFeed<StorageChange<Key, Value>.Batch>(buffer: buffer)
    return feed.elements(until: try observeBatches(key) { feed.add($0) })
  }
}
