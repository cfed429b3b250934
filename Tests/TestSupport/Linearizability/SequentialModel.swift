/// What an object would do if its operations came one after the other.
public protocol SequentialModel: Sendable {
  /// All that later operations depend on.
  associatedtype State: Hashable
  /// An operation and its arguments.
  associatedtype Call: Sendable
  /// What its caller got.
  associatedtype Outcome: Sendable

  /// The state at the beginning.
  var initial: State { get }

  /// The state after a call that had this outcome; nil if it cannot have had it in this state. Without an outcome nobody knows it: then
  /// the call has whatever effect it has in this state.
  func state(after call: Call, _ outcome: Outcome?, in state: State) -> State?

  /// The parts of the object that a call reads or changes, by numbers; nil for all. Calls that share none, not even through others, are
  /// checked apart: that is sound, as such parts are objects of their own.
  func parts(of call: Call) -> [Int]?
}

extension SequentialModel {
  /// One object.
  public func parts(of call: Call) -> [Int]? { nil }
}

/// An operation of a history.
public struct RecordedOperation<Call: Sendable, Outcome: Sendable>: Sendable {
  /// Who called.
  public var caller: String
  /// What.
  public var call: Call
  /// What came of it; nil if nobody knows, as its process was killed: it happened at some time after its call, or never.
  public var outcome: Outcome?
  /// When it was called, by a counter that all callers share.
  public var called: Int
  /// When it returned; `Int.max` without an outcome.
  public var returned: Int

  /// Notes an operation.
  public init(_ caller: String, _ call: Call, _ outcome: Outcome?, called: Int, returned: Int) {
    self.caller = caller
    self.call = call
    self.outcome = outcome
    self.called = called
    self.returned = outcome == nil ? .max : returned
  }

  /// The same at the same time, as another call with another outcome.
  public func seen<C, O>(as call: C, _ outcome: O?) -> RecordedOperation<C, O> {
    RecordedOperation<C, O>(caller, call, outcome, called: called, returned: returned)
  }
}

extension RecordedOperation: CustomStringConvertible {
  /// The operation in one line.
  public var description: String {
    let time = "[\(called), \(outcome == nil ? "?" : "\(returned)")]"
    return "\(time) \(caller): \(call) -> \(outcome.map { "\($0)" } ?? "unknown")"
  }
}
