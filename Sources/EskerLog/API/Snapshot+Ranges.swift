extension Snapshot {
  /// The entries of a range of a keyspace's keys, in order, as they were at the snapshot's instant. The sequence keeps the snapshot open.
  ///
  /// What stands for unreadable keys comes last, whatever the range, so that damage is not mistaken for absence.
  ///
  /// - Complexity: O(log n) for the first entry, if the keyspace keeps its keys in order; besides, what was overwritten or removed since
  ///   the snapshot is read once. Otherwise the first call for a keyspace sorts its keys, which the snapshot keeps: O(n log n), and
  ///   what ``entries(in:)`` takes.
  public func entries(
    in keyspace: Keyspace,
    _ range: KeyRange,
    order: KeyRange.Direction = .ascending
  ) -> some Sequence<Snapshot.Entry> {
    OrderedEntries(self, keyspace.core, range, order)
  }

  fileprivate func keyOrder(of core: KeyspaceCore) -> SnapshotOrder {
    // One that came since, or of another store, has nothing here.
    guard keyspaces[core.id]?.name == core.name else { return SnapshotOrder(of: [], ofKeyspace: core.id) }
    if let order = orders.withLock({ $0[core.id] }) { return order }
    let order = liveOrder(of: core).flatMap { SnapshotOrder($0, ofKeyspace: core.id) } ?? sorted(core)
    return orders.withLock { orders in
      // Another thread may have been first.
      let kept = orders[core.id] ?? order
      orders[core.id] = kept
      return kept
    }
  }

  /// The order to go on with where damage is in the way of one.
  fileprivate func keyOrder(of core: KeyspaceCore, insteadOf order: SnapshotOrder) -> SnapshotOrder {
    if let other = orders.withLock({ $0[core.id] }), other !== order { return other }
    let order = sorted(core)
    orders.withLock { $0[core.id] = order }
    return order
  }

  private func sorted(_ core: KeyspaceCore) -> SnapshotOrder {
    SnapshotOrder(of: KeyspaceEntries(of: core, in: self), ofKeyspace: core.id)
  }
}

/// The entries of a range, and then what cannot be read.
private struct OrderedEntries: Sequence, IteratorProtocol {
  private let snapshot: Snapshot
  private let core: KeyspaceCore
  private var keys: SnapshotOrder
  private let order: KeyRange.Direction
  /// Those that come next, the next one last.
  private var page: [Snapshot.Entry] = []
  /// What comes behind them; nil if nothing does.
  private var rest: KeyRange?
  private var length = SnapshotOrder.pageLengths.least
  /// nil until all others were shown.
  private var damaged: ArraySlice<Snapshot.Entry>?

  init(_ snapshot: Snapshot, _ core: KeyspaceCore, _ range: KeyRange, _ order: KeyRange.Direction) {
    self.snapshot = snapshot
    self.core = core
    self.order = order
    keys = snapshot.keyOrder(of: core)
    rest = range
  }

  mutating func next() -> Snapshot.Entry? {
    while true {
      if let entry = page.popLast() { return entry }
      guard let range = rest else {
        if damaged == nil { damaged = keys.damaged[...] }
        return damaged?.popFirst()
      }
      guard let next = keys.page(of: range, order, limit: length, in: snapshot) else {
        keys = snapshot.keyOrder(of: core, insteadOf: keys)
        continue
      }
      page = next.entries.reversed()
      rest = next.rest
      length = SnapshotOrder.pageLengths.most
    }
  }
}
