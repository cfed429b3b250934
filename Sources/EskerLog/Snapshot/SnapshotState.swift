internal import EskerFormat
internal import EskerPlatform

/// What an open snapshot needs to know of the instant it shows.
///
/// The index keeps no versions. Instead, whoever takes a live record out of the index while snapshots are open notes its
/// address here first. A record belongs to the snapshot exactly if it is not newer and either the index still leads to it or
/// it was noted: memory grows only with what is overwritten while the snapshot is open.
///
/// Not final, so that a test can stand among the snapshots and look when it is told.
class SnapshotState: @unchecked Sendable {
  let sequence: UInt64
  let time: Int64
  let count: Int
  /// The keyspaces and the incarnation each was in.
  let keyspaces: [UInt32: (name: String, tag: KeyspaceTag)]
  /// The segments and how far each was written.
  let segments: [(segment: Segment, end: Int)]
  private let superseded = Guarded<Set<UInt64>>([], .notes)

  init(
    sequence: UInt64,
    time: Int64,
    count: Int,
    keyspaces: [UInt32: (name: String, tag: KeyspaceTag)],
    segments: [(segment: Segment, end: Int)]
  ) {
    self.sequence = sequence
    self.time = time
    self.count = count
    self.keyspaces = keyspaces
    self.segments = segments
  }

  /// One that shows nothing, for who has to hear what leaves the index.
  convenience init() {
    self.init(sequence: .max, time: 0, count: 0, keyspaces: [:], segments: [])
  }

  /// Notes that the index is about to stop leading to a record. Called under the writer's lock.
  func noteSuperseded(_ address: UInt64, _ sequence: UInt64) {
    guard sequence <= self.sequence else { return }
    superseded.withLock { _ = $0.insert(address) }
  }

  func wasSuperseded(_ address: UInt64) -> Bool {
    superseded.withLock { $0.contains(address) }
  }
}
