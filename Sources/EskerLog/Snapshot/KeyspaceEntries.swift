internal import EskerFormat
internal import EskerPlatform

/// The entries of one keyspace in a snapshot: found by the keyspace's hash list, if it has one, or by reading the whole snapshot.
///
/// The snapshot shows what the index led to at its instant. Of that, the index still leads to some, which the hash list finds;
/// what it has left since was noted before. So the index is asked first and the notes second, as by the snapshot's iterator.
struct KeyspaceEntries: Sequence {
  private let core: KeyspaceCore
  private let snapshot: Snapshot

  init(of core: KeyspaceCore, in snapshot: Snapshot) {
    self.core = core
    self.snapshot = snapshot
  }

  func makeIterator() -> Iterator {
    // Another keyspace may have got the name since.
    guard let shown = snapshot.keyspaces[core.id], shown.name == core.name else { return Iterator(snapshot, [], core) }
    let addresses = (try? snapshot.addresses(of: core, shown.tag)) ?? nil
    return Iterator(snapshot, addresses, core)
  }

  struct Iterator: IteratorProtocol {
    private let snapshot: Snapshot
    /// Candidates; nil if the whole snapshot is read.
    private var addresses: ArraySlice<UInt64>?
    /// nil once there is nothing more to read.
    private var walk: SnapshotWalk?
    private let id: UInt32

    fileprivate init(_ snapshot: Snapshot, _ addresses: [UInt64]?, _ core: KeyspaceCore) {
      self.snapshot = snapshot
      self.addresses = addresses.map { $0[...] }
      walk = addresses == nil ? SnapshotWalk(snapshot, only: core.name) : nil
      id = core.id
    }

    mutating func next() -> Snapshot.Entry? {
      guard addresses != nil else {
        if walk?.advance() == true { return walk?.entry }
        walk = nil
        return nil
      }
      while let address = addresses?.popFirst() {
        if let entry = snapshot.entry(at: address, ofKeyspace: id) { return entry }
      }
      return nil
    }
  }
}
