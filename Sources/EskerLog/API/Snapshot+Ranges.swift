extension Snapshot {
  /// The entries of a range of a keyspace's keys, in order, as they were at the snapshot's instant. The sequence keeps the snapshot open.
  ///
  /// What stands for unreadable keys comes last, whatever the range, so that damage is not mistaken for absence.
  ///
  /// - Complexity: O(log n) for the first entry. The first call for a keyspace sorts its keys, which the snapshot keeps: O(n log n), and
  ///   what ``entries(in:)`` takes.
  public func entries(
    in keyspace: Keyspace,
    _ range: KeyRange,
    order: KeyRange.Direction = .ascending
  ) -> some Sequence<Snapshot.Entry> {
    OrderedEntries(snapshot: self, keyspace: keyspace.core.id, keys: keyOrder(of: keyspace.core), range, order)
  }

  private func keyOrder(of core: KeyspaceCore) -> SnapshotOrder {
    if let order = orders.withLock({ $0[core.id] }) { return order }
    let order = SnapshotOrder(of: KeyspaceEntries(of: core, in: self))
    orders.withLock { $0[core.id] = order }
    return order
  }
}

/// The entries of a range, and then what cannot be read.
private struct OrderedEntries: Sequence, IteratorProtocol {
  private let snapshot: Snapshot
  private let keyspace: UInt32
  private let keys: SnapshotOrder
  private var places: Range<Int>
  private let order: KeyRange.Direction
  private var damaged: ArraySlice<Snapshot.Entry>

  init(
    snapshot: Snapshot,
    keyspace: UInt32,
    keys: SnapshotOrder,
    _ range: KeyRange,
    _ order: KeyRange.Direction
  ) {
    self.snapshot = snapshot
    self.keyspace = keyspace
    self.keys = keys
    self.order = order
    places = keys.places(of: range)
    damaged = keys.damaged[...]
  }

  mutating func next() -> Snapshot.Entry? {
    while let place = order == .ascending ? places.popFirst() : places.popLast() {
      if let entry = snapshot.entry(at: keys.address(place), ofKeyspace: keyspace) { return entry }
    }
    return damaged.popFirst()
  }
}
