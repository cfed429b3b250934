import EskerPlatform

/// The calls of a `FaultyFileSystem` that fail, and how.
///
/// Rules may be added at any time and from any thread. The hook sees every call before it is made.
public final class FaultPlan: Sendable {
  private struct State {
    var rules: [FaultRule] = []
    var calls = 0
    var callsByOperation: [FaultOperation: Int] = [:]
    var hook: (@Sendable (FaultCall) -> Void)?
    var givesUpResting = false
  }

  private let state = Guarded(State())

  /// Creates a plan without faults.
  public init() {}

  /// Adds a rule; if several match a call, the oldest decides.
  public func add(_ rule: FaultRule) {
    state.withLock { $0.rules.append(rule) }
  }

  /// Adds a fault.
  ///
  /// The `nth` call from now on of `operation` (nil: of any) on a matching path has `effect`; with `sticky` every later one
  /// too.
  public func fail(
    _ operation: FaultOperation?,
    on file: FileMatch = .any,
    nth: Int = 1,
    sticky: Bool = false,
    _ effect: FaultEffect
  ) {
    add(FaultRule(operation: operation, file: file, nth: nth, sticky: sticky, effect: effect))
  }

  /// Repairs the device: removes all rules.
  public func heal() {
    state.withLock { $0.rules = [] }
  }

  /// Sets or clears a hook for every call; it runs outside all locks, on the thread that makes the call.
  public func onCall(_ hook: (@Sendable (FaultCall) -> Void)?) {
    state.withLock { $0.hook = hook }
  }

  /// Makes a resting file give up its descriptor after each call: every call that needs one then counts as an `open` first.
  public func giveUpResting() {
    state.withLock { $0.givesUpResting = true }
  }

  var givesUpResting: Bool { state.withLock { $0.givesUpResting } }

  /// The number of calls made.
  public var callCount: Int {
    state.withLock { $0.calls }
  }

  /// The number of calls made of one operation.
  public func callCount(of operation: FaultOperation) -> Int {
    state.withLock { $0.callsByOperation[operation] ?? 0 }
  }

  /// Counts a call, passes it to the hook and returns its effect.
  func effect(_ operation: FaultOperation, _ path: String) -> FaultEffect? {
    let (call, hook) = state.withLock { state in
      state.calls += 1
      state.callsByOperation[operation, default: 0] += 1
      return (FaultCall(operation: operation, path: path, index: state.calls), state.hook)
    }
    if let hook { LockRank.apart { hook(call) } }
    return state.withLock { state in
      var decided: FaultEffect?
      // Every matching rule counts the call, whether or not it decides.
      for index in state.rules.indices where state.rules[index].takesEffect(on: call) {
        decided = decided ?? state.rules[index].effect
      }
      state.rules.removeAll(where: \.isSpent)
      return decided
    }
  }
}
