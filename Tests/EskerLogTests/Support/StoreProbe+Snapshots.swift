import EskerFormat
import EskerPlatform

@testable import EskerIndex
@testable import EskerLog

extension StoreProbe {
  /// Stands among the open snapshots of the store, and beside its checkpoints, until it is told to leave.
  func bystander() -> Bystander { Bystander(of: self) }

  /// Does something when open snapshots are told of the n-th record that leaves the index, under the writer's lock; until what
  /// is returned is told to leave.
  func onLeaving(nth: Int, _ body: @escaping () -> Void) -> LeavingHook {
    LeavingHook(of: self, at: nth, body)
  }

  fileprivate func enter(_ snapshot: SnapshotState) {
    engine.writer.withLock { state in state.keys.add(snapshot) }
  }

  fileprivate func leave(_ snapshot: SnapshotState) {
    engine.writer.withLock { state in state.keys.remove(snapshot) }
  }

  fileprivate func beginCut() -> CheckpointCut {
    engine.writer.withLock { state in
      engine.keydir.beginCut(
        at: engine.publishedSequence,
        replaying: (0, 0),
        CheckpointMeta(segments: [], keyspaces: []),
        &state.keys
      )
    }
  }

  fileprivate func endCut() {
    engine.writer.withLock { state in engine.keydir.endCut(&state.keys) }
  }
}

/// Looks whether snapshots and checkpoints are told in time where the index leads no more.
final class Bystander: SnapshotState, @unchecked Sendable {
  struct Report {
    /// Places that the index did not lead to any more when they were told.
    var toldTooLate = 0
    /// Places that the index leads to no more and nobody told of.
    var untold = 0
    /// Places that were told and that the index still leads to.
    var toldInVain = 0
    /// Buckets that changed and were not saved as they were.
    var unsaved = 0
    /// Places that the index does not lead to any more.
    var left = 0
  }

  private let probe: StoreProbe
  private let before: (places: Set<UInt64>, buckets: [[UInt64]])
  private let cut: CheckpointCut
  private let told = Guarded<(places: Set<UInt64>, late: Int, segments: [ObjectIdentifier: Segment])>(([], 0, [:]))

  fileprivate init(of probe: StoreProbe) {
    self.probe = probe
    before = (probe.places, probe.bucketWords)
    cut = probe.beginCut()
    super.init(sequence: .max, time: 0, count: 0, keyspaces: [:], segments: [])
    probe.enter(self)
  }

  override func noteSuperseded(_ address: UInt64, _ sequence: UInt64) {
    let isLed = probe.places.contains(address)
    let segment = probe.engine.catalog.granules.segment(of: address)
    told.withLock { told in
      // So that no other record gets this address.
      if let segment { told.segments[ObjectIdentifier(segment)] = segment }
      told.places.insert(address)
      if !isLed { told.late += 1 }
    }
  }

  /// Leaves, and says what it has seen.
  func leave() -> Report {
    probe.leave(self)
    probe.endCut()
    let left = before.places.subtracting(probe.places)
    let (places, late, _) = told.withLock { $0 }
    let now = probe.bucketWords
    var report = Report(toldTooLate: late, untold: left.subtracting(places).count, left: left.count)
    // What came and went in between was told of too.
    report.toldInVain = places.intersection(probe.places).count
    for (bucket, words) in before.buckets.enumerated() where now[bucket] != words {
      if cut.saved[bucket]?.words != words { report.unsaved += 1 }
    }
    return report
  }
}

/// Does something when a store's open snapshots are told for the n-th time.
final class LeavingHook: SnapshotState, @unchecked Sendable {
  private let probe: StoreProbe
  private let turn: Int
  private let body: () -> Void
  private let told = SharedCounter()

  fileprivate init(of probe: StoreProbe, at turn: Int, _ body: @escaping () -> Void) {
    self.probe = probe
    self.turn = turn
    self.body = body
    super.init(sequence: .max, time: 0, count: 0, keyspaces: [:], segments: [])
    probe.enter(self)
  }

  override func noteSuperseded(_ address: UInt64, _ sequence: UInt64) {
    if told.add() == turn { body() }
  }

  /// Hears no more.
  func leave() { probe.leave(self) }
}
