internal import EskerMemory

extension MemoryStorage: ObservableStorage {
  /// Calls `body` with every change, or with those of one key; see ``ObservableStorage``.
  ///
  /// Evicted and expired values are reported too, when they are taken out. A value that costs more than the whole limit is not
  /// kept, and evicts the one that it was to replace. Queued changes keep their values alive, beyond the limits: at most 8,192 of
  /// them, besides those being delivered.
  ///
  /// While somebody observes, writers wait for each other.
  public func observe(
    only key: Key?,
    _ body: @escaping @Sendable (StorageChange<Key, Value>) -> Void
  ) throws(StorageError) -> ObservationToken {
    var heldKey: Key.Held?
    if let key { heldKey = try held(key) }
    return try changes.observe(
      heldKey,
      feed: { [cache, changes, name, keys] (isObserved: Bool) in
        guard isObserved else { return cache.observe(nil) }
        cache.observe { Self.add($0, to: changes, name, keys) }
      },
      { (told: ChangeQueue<Key.Held, StorageChange<Key, Value>>.Told) in
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
    _ change: MemoryChange<Key.Held, Value>,
    to changes: ChangeQueue<Key.Held, StorageChange<Key, Value>>,
    _ name: String,
    _ keys: KeyTransformer<Key>
  ) {
    func tell(_ held: Key.Held, _ change: (Key) -> StorageChange<Key, Value>) {
      changes.add(held) {
        do {
          return change(try Key.key(of: held, by: keys))
        } catch {
          return .unreadable(key: nil, .key("\(held)", view: name, underlying: error))
        }
      }
    }
    switch change {
    case .put(let held, let before, let after):
      tell(held) { .set(key: $0, before: before, after: after) }
    case .removed(let held, let before): tell(held) { .removed(key: $0, before: before) }
    case .expired(let held, let before): tell(held) { .expired(key: $0, before: before) }
    case .evicted(let held, let before): tell(held) { .evicted(key: $0, before: before) }
    case .removedAll: changes.add(nil) { .removedAll }
    }
  }
}
