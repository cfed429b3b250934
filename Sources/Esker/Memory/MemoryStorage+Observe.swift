internal import EskerMemory

extension MemoryStorage: ObservableStorage {
  /// Calls `body` with every change; see ``ObservableStorage``.
  ///
  /// Told are also values that make room and those found to be expired, when they are taken out. A value that is not kept,
  /// since it costs more than the whole limit, evicts the one that it was to replace. Changes that wait to be told keep their
  /// values alive, beyond the limits: at most 8,192 of them, besides those that are just being told.
  ///
  /// While somebody observes, writers wait for each other.
  public func observe(
    _ body: @escaping @Sendable (StorageChange<Key, Value>) -> Void
  ) throws(StorageError) -> ObservationToken {
    try observe(nil, telling: body)
  }

  /// Calls `body` with every change of one key, as `observe(_:)` does with those of all.
  public func observe(
    _ key: Key,
    _ body: @escaping @Sendable (StorageChange<Key, Value>) -> Void
  ) throws(StorageError) -> ObservationToken {
    try observe(key, telling: body)
  }

  private func observe(
    _ key: Key?,
    telling body: @escaping @Sendable (StorageChange<Key, Value>) -> Void
  ) throws(StorageError) -> ObservationToken {
    try changes.observe(
      key,
      feed: { [cache, changes] (isObserved: Bool) in
        guard isObserved else { return cache.observe(nil) }
        cache.observe { Self.add($0, to: changes) }
      },
      { (told: ChangeQueue<Key, StorageChange<Key, Value>>.Told) in
        switch told {
        case .change(let change): body(change)
        case .missed(let count): body(.missed(count))
        // Only a log ends.
        case .ended: body(.closed)
        }
      }
    )
  }

  private static func add(
    _ change: MemoryChange<Key, Held<Value>>,
    to changes: ChangeQueue<Key, StorageChange<Key, Value>>
  ) {
    switch change {
    case .put(let key, let before, let after):
      // An update that found another value than it was made for leaves that where it is.
      if before?.write == after.write { return }
      changes.add(key) { .set(key: key, before: before?.value, after: after.value) }
    case .removed(let key, let before): changes.add(key) { .removed(key: key, before: before.value) }
    case .expired(let key, let before): changes.add(key) { .expired(key: key, before: before.value) }
    case .evicted(let key, let before): changes.add(key) { .evicted(key: key, before: before.value) }
    case .removedAll: changes.add(nil) { .removedAll }
    }
  }
}
