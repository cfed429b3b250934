import Dispatch
import Esker
import EskerPlatform
import EskerTestSupport

/// A store whose writes are synced, on a simulated disk that can be made to hold its syncs or to fail them.
final class SlowStore: Sendable {
  let store: LogStore
  private let plan = FaultPlan()
  private let gate = DispatchSemaphore(value: 0)
  private let held = Guarded(0)

  init() throws {
    var options = Options()
    options.durability = .synced
    let platform = Platform.simulated(
      fileSystem: FaultyFileSystem(SimulatedDisk(), plan: plan),
      clock: FakeClock(),
      seed: 1
    )
    store = try LogStore(at: "/store", options: options, host: StoreHost(platform: platform, background: .threads))
    // The first sync of a segment is made when the store is new.
    try store.put("0", forKey: "first")
  }

  /// Holds every sync of the log, those of the background too, until they are let go; once.
  func hold() {
    plan.onCall { [self] call in
      guard call.operation == .sync, call.path.hasSuffix(".segment") else { return }
      held.withLock { $0 += 1 }
      gate.wait()
      gate.signal()
    }
  }

  var heldSyncs: Int { held.withLock { $0 } }

  func letGo() {
    plan.onCall(nil)
    gate.signal()
  }

  /// Every sync of the log fails from now on.
  func failSyncs() {
    plan.add(FaultRule(operation: .sync, file: .suffix(".segment"), sticky: true, effect: .error(5)))
  }

  /// Whether everything written is durable.
  var isDurable: Bool { store.durableSequence == store.lastSequence }
}
