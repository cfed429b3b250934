import EskerPlatform

/// Which calls of a `FaultyFileSystem` go wrong, and how.
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

  /// A plan under which nothing goes wrong.
  public init() {}

  /// Adds a rule; when several match a call, the oldest decides.
  public func add(_ rule: FaultRule) {
    state.withLock { $0.rules.append(rule) }
  }

  /// Lets something go wrong.
  ///
  /// The `nth` call of `operation` (nil: of any) on a path that matches from now on has `effect`, and with
  /// `sticky` every later one too.
  public func fail(
    _ operation: FaultOperation?,
    on file: FileMatch = .any,
    nth: Int = 1,
    sticky: Bool = false,
    _ effect: FaultEffect
  ) {
    add(FaultRule(operation: operation, file: file, nth: nth, sticky: sticky, effect: effect))
  }

  /// The device heals: all rules go.
  public func heal() {
    state.withLock { $0.rules = [] }
  }

  /// Sets what to do before every call, or nothing; called outside all locks, on the thread that makes the call.
  public func onCall(_ hook: (@Sendable (FaultCall) -> Void)?) {
    state.withLock { $0.hook = hook }
  }

  /// Has a file that rests give its descriptor up after each call: each that needs one is a call of `open` first.
  public func giveUpResting() {
    state.withLock { $0.givesUpResting = true }
  }

  var givesUpResting: Bool { state.withLock { $0.givesUpResting } }

  /// How many calls were made.
  public var callCount: Int {
    state.withLock { $0.calls }
  }

  /// How many calls of one operation were made.
  public func callCount(of operation: FaultOperation) -> Int {
    state.withLock { $0.callsByOperation[operation] ?? 0 }
  }

  /// Counts a call, shows it to the hook and says what is to become of it.
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
