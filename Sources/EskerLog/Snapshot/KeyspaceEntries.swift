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

  func makeIterator() -> Iterator { Iterator(snapshot, candidates, core) }

  /// The addresses that entries may have; nil if the whole snapshot is read.
  private var candidates: [UInt64]? {
    // Another keyspace may have got the name since.
    guard let shown = snapshot.keyspaces[core.id], shown.name == core.name else { return [] }
    return (try? snapshot.addresses(of: core, shown.tag)) ?? nil
  }

  /// Calls `body` with each entry, and `progress` with the share that was read so far: at the beginning of each segment, and after every
  /// few entries of the keyspace.
  func forEach<Failure: Error>(
    progress: (Double) throws(Failure) -> Void,
    _ body: (borrowing Snapshot.Entry) throws(Failure) -> Void
  ) throws(Failure) {
    if let addresses = candidates {
      for (position, address) in addresses.enumerated() {
        if position % Self.stride == 0 { try progress(Double(position) / Double(addresses.count)) }
        if let entry = snapshot.entry(at: address, ofKeyspace: core.id) { try body(entry) }
      }
    } else if var walk = SnapshotWalk(snapshot, only: core.name) {
      var count = 0
      repeat {
        try progress(walk.share)
        while walk.advanceInSegment() {
          try body(walk.entry)
          count += 1
          if count % Self.stride == 0 { try progress(walk.share) }
        }
      } while walk.enterNext()
    }
    try progress(1)
  }

  private static var stride: Int { 64 }

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
