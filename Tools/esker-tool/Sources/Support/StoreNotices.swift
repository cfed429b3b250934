import Esker
import Synchronization

/// Reports damage found by a store on standard error, one line per finding.
///
/// Events come from the thread that opens the store, and from its own threads.
final class StoreNotices: Sendable {
  private let found = Atomic<Bool>(false)
  private let segments = Mutex<Set<UInt64>>([])
  private let saysDamage: Bool

  /// - Parameter saysDamage: False for a command whose results name all damage anyway.
  init(sayingDamage saysDamage: Bool = true) {
    self.saysDamage = saysDamage
  }

  var foundDamage: Bool { found.load(ordering: .relaxed) }
  /// The segments in which damage was found.
  var damagedSegments: Set<UInt64> { segments.withLock { $0 } }

  /// Notes damage.
  func note(_ location: StoreError.Location) {
    found.store(true, ordering: .relaxed)
    if let id = location.segment { segments.withLock { _ = $0.insert(id) } }
  }

  func receive(_ event: StoreEvent) {
    switch event {
    case .damaged(let location, let reason):
      note(location)
      if saysDamage { DamageReports.report(location, reason) }
    case .backgroundFailure(let operation, .damaged(let location, let reason)):
      note(location)
      StandardError.report("cannot \(operation): \(location): \(reason)")
    case .cut(let cut):
      let discarded = cut.discardedSegments
      let others = discarded > 0 ? " and \(NumberText.count(discarded, "segment")) after it" : ""
      StandardError.report(
        "note: writes cut off by a crash are not shown: those from \(cut.sequence) on, which were not yet durable, "
          + "in segment \(cut.segment) from offset \(cut.offset) on\(others)"
      )
    default: break
    }
  }
}
