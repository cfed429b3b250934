internal import EskerMemory

extension MemoryStorage: ObservableStorage {
  /// Calls `body` with every change, or with those of one key; see ``ObservableStorage``.
  ///
  /// Evicted and expired values are reported too, when they are taken out. A value that costs more than the whole limit is not
  /// kept, and evicts the one that it was to replace. Queued changes keep their values alive, beyond the limits: at most 8,192 of
  /// them, besides those being delivered.
  ///
  /// Memory has no batches: `observeBatches` reports each change alone. While somebody observes, writers wait for each other.
  public func observe(
    only key: Key?,
    _ body: @escaping @Sendable (StorageChange<Key, Value>) -> Void
  ) throws(StorageError) -> ObservationToken {
    var heldKey: Key.Held?
    if let key { heldKey = try held(key) }
    return try changes.observe(
      heldKey,
      feed: { [cache, changes] (isObserved: Bool) in
        guard isObserved else { return cache.observe(nil) }
        cache.observe { change in changes.add(change.key) { change } }
      },
      { [name, keys] (notice: ChangeQueue<Key.Held, MemoryChange<Key.Held, Value>>.Notice) in
        switch notice {
        case .changes(let changes, _): for change in changes { body(Self.change(change, name, keys)) }
        case .missed(let count): body(.missed(count))
        // Only a log ends.
        case .ended: body(.closed)
        }
      }
    )
  }

  /// A change with its key decoded, which is the caller's code and so not done where the change is made, under locks.
  private static func change(
    _ change: MemoryChange<Key.Held, Value>,
    _ name: String,
    _ keys: KeyTransformer<Key>
  ) -> StorageChange<Key, Value> {
    guard let held = change.key else { return .removedAll }
    let key: Key
    do { key = try Key.key(of: held, by: keys) } catch {
      return .unreadable(key: nil, .key("\(held)", view: name, underlying: error))
    }
    switch change {
    case .put(_, let before, let after): return .set(key: key, before: before, after: after)
    case .removed(_, let before): return .removed(key: key, before: before)
    case .expired(_, let before): return .expired(key: key, before: before)
    case .evicted(_, let before): return .evicted(key: key, before: before)
    case .removedAll: return .removedAll
    }
  }
}

extension MemoryChange {
  /// Whose value it was; nil for all.
  fileprivate var key: Key? {
    switch self {
    case .put(let key, _, _), .removed(let key, _), .expired(let key, _), .evicted(let key, _): key
    case .removedAll: nil
    }
  }
}
