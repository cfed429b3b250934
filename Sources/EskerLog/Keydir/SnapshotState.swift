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
    /// The addresses that the index left, for look-ups.
    var left: Set<UInt64> = []
    /// The same in the order in which they were noted, for those who have read some.
    var log: [UInt64] = []
    var entered: Set<UInt64> = []
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
      if !notes.entered.contains(address), notes.left.insert(address).inserted { notes.log.append(address) }
    }
  }

  /// Notes that the index is about to lead to a copy of a record. Called under the writer's lock.
  func noteEntering(_ address: UInt64) {
    guard isAmidMerge else { return }
    notes.withLock { _ = $0.entered.insert(address) }
  }

  /// Whether the index led to an address that it may have left since.
  func wasSuperseded(_ address: UInt64) -> Bool {
    notes.withLock { $0.left.contains(address) }
  }

  /// The number of addresses that the index led to and may have left since.
  var supersededCount: Int { notes.withLock { $0.log.count } }

  /// Those of them that were noted behind the first `position`: some, or all. None if there are none.
  ///
  /// Writers wait while they are copied, so that is done for some ten thousand at a time.
  func superseded(behind position: Int) -> [UInt64] {
    notes.withLock { Array($0.log[position..<min($0.log.count, position + 1 << 14)]) }
  }

  /// Whether the index was led to an address that it did not lead to before.
  func hasEntered(_ address: UInt64) -> Bool {
    isAmidMerge && notes.withLock { $0.entered.contains(address) }
  }
}
