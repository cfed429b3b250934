internal import EskerFormat
internal import EskerPlatform

/// The instant that an open snapshot shows.
///
/// The index keeps no versions. Instead, while snapshots are open, the address of a live record is noted here before the record
/// leaves the index. A record belongs to the snapshot if it is not newer and either the index still leads to it or it was noted:
/// memory grows only with what is overwritten while the snapshot is open. If the snapshot was opened during a merge, addresses
/// that enter the index are noted too: they are copies of records that the snapshot already shows.
///
/// Not final, so that a test can subclass it to observe the notifications.
///
/// Safety: threads may share it. Its properties are constants, except `notes`, which has a lock.
class SnapshotState: @unchecked Sendable {
  let sequence: UInt64
  let time: Int64
  let count: Int
  /// The keyspaces, as they were.
  let keyspaces: [UInt32: SnapshotKeyspace]
  /// The number of the next keyspace.
  let nextKeyspaceID: UInt32
  /// The segments, each with the offset up to which it was written.
  let segments: [(segment: Segment, end: Int)]
  /// For each of them, whether the index led to every record up to that offset.
  let isWhole: [Bool]
  /// Whether the index led to some outputs of a merge, which are shown, and might be led back to the inputs.
  private let isAmidMerge: Bool
  private let notes = Guarded(Notes(), .notes)

  private struct Notes {
    /// The addresses that the index left since the last of `older` was given to a reader.
    var left: Set<UInt64> = []
    /// Those before: they no longer change, so that nobody copies them under the lock.
    var older: [Set<UInt64>] = []
    /// How often `older` was united.
    var unions = 0
    var entered: Set<UInt64> = []

    func hasLeft(_ address: UInt64) -> Bool {
      left.contains(address) || older.contains { $0.contains(address) }
    }
  }

  init(
    sequence: UInt64,
    time: Int64,
    count: Int,
    keyspaces: [UInt32: SnapshotKeyspace],
    nextKeyspaceID: UInt32 = 1,
    segments: [(segment: Segment, end: Int)],
    isWhole: [Bool] = [],
    isAmidMerge: Bool = false
  ) {
    self.sequence = sequence
    self.time = time
    self.count = count
    self.keyspaces = keyspaces
    self.nextKeyspaceID = nextKeyspaceID
    self.segments = segments
    self.isWhole = isWhole
    self.isAmidMerge = isAmidMerge
  }

  /// A state that shows nothing, for observing what leaves the index.
  convenience init() {
    self.init(sequence: .max, time: 0, count: 0, keyspaces: [:], segments: [])
  }

  /// Notes that the index is about to stop leading to a record. Called under the writer's lock.
  func noteSuperseded(_ address: UInt64, _ sequence: UInt64) {
    guard sequence <= self.sequence else { return }
    notes.withLock { notes in
      if !notes.entered.contains(address) { notes.left.insert(address) }
    }
  }

  /// Notes that the index is about to lead to a copy of a record. Called under the writer's lock.
  func noteEntering(_ address: UInt64) {
    guard isAmidMerge else { return }
    notes.withLock { _ = $0.entered.insert(address) }
  }

  /// Whether the index led to an address that it may have left since.
  func wasSuperseded(_ address: UInt64) -> Bool {
    notes.withLock { $0.hasLeft(address) }
  }

  /// The addresses that the index led to and may have left since.
  ///
  /// O(addresses), but not for writers: they note in another set from now on.
  var superseded: Set<UInt64> {
    let (sets, unions) = notes.withLock { notes in
      if !notes.left.isEmpty {
        notes.older.append(notes.left)
        notes.left = []
      }
      return (notes.older, notes.unions)
    }
    guard sets.count > 1, let first = sets.first else { return sets.first ?? [] }
    let union = sets.dropFirst().reduce(into: first) { $0.formUnion($1) }
    notes.withLock { notes in
      guard notes.unions == unions else { return }
      notes.older.replaceSubrange(..<sets.count, with: [union])
      notes.unions += 1
    }
    return union
  }

  /// Whether the index was led to an address that it did not lead to before.
  func hasEntered(_ address: UInt64) -> Bool {
    isAmidMerge && notes.withLock { $0.entered.contains(address) }
  }
}
