internal import EskerFormat
internal import EskerPlatform

/// What an open snapshot needs to know of the instant it shows.
///
/// The index keeps no versions. Instead, whoever takes a live record out of the index while snapshots are open notes its
/// address here first. A record belongs to the snapshot exactly if it is not newer and either the index still leads to it or
/// it was noted: memory grows only with what is overwritten while the snapshot is open. For one that was opened amid a merge,
/// what the index is led to is noted too: that is a copy of what the snapshot shows already.
///
/// Not final, so that a test can stand among the snapshots and look when it is told.
///
/// Safety: threads may share it. Its properties are constants, except `notes`, which has a lock.
class SnapshotState: @unchecked Sendable {
  let sequence: UInt64
  let time: Int64
  let count: Int
  /// The keyspaces and the incarnation each was in.
  let keyspaces: [UInt32: (name: String, tag: KeyspaceTag)]
  /// The segments and how far each was written.
  let segments: [(segment: Segment, end: Int)]
  /// Whether the index led to some of a merge's outputs, which are shown, and might be led back.
  private let isAmidMerge: Bool
  private let notes = Guarded<(left: Set<UInt64>, entered: Set<UInt64>)>(([], []), .notes)

  init(
    sequence: UInt64,
    time: Int64,
    count: Int,
    keyspaces: [UInt32: (name: String, tag: KeyspaceTag)],
    segments: [(segment: Segment, end: Int)],
    isAmidMerge: Bool = false
  ) {
    self.sequence = sequence
    self.time = time
    self.count = count
    self.keyspaces = keyspaces
    self.segments = segments
    self.isAmidMerge = isAmidMerge
  }

  /// One that shows nothing, for who has to hear what leaves the index.
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

  /// Whether the index led to a place that it may not lead to any more.
  func wasSuperseded(_ address: UInt64) -> Bool {
    notes.withLock { $0.left.contains(address) }
  }

  /// Whether the index leads to a place that it did not lead to.
  func hasEntered(_ address: UInt64) -> Bool {
    isAmidMerge && notes.withLock { $0.entered.contains(address) }
  }
}
