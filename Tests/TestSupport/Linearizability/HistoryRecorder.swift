import EskerPlatform
import Synchronization

/// Notes what threads and tasks do, and in which order: one counter gives each call and each return its time. An operation is called
/// after another one has returned if, and only if, its time says so.
public final class HistoryRecorder<Model: SequentialModel>: Sendable {
  /// What it notes.
  public typealias Operation = RecordedOperation<Model.Call, Model.Outcome>

  private let clock = Atomic<Int>(0)
  private let noted = Guarded<[Operation]>([])

  /// Creates one that has noted nothing.
  public init() {}

  /// All that was noted, in the order of the calls.
  public var operations: [Operation] { noted.withLock { $0 }.sorted { $0.called < $1.called } }

  /// The next time.
  public func tick() -> Int { clock.add(1, ordering: .sequentiallyConsistent).newValue }

  /// Notes an operation that was called at `called`, and returns now.
  public func note(_ caller: String, _ call: Model.Call, _ outcome: Model.Outcome?, calledAt called: Int) {
    note(caller, call, outcome, calledAt: called, returnedAt: tick())
  }

  /// Notes an operation of which it is known when it returned.
  public func note(
    _ caller: String,
    _ call: Model.Call,
    _ outcome: Model.Outcome?,
    calledAt called: Int,
    returnedAt returned: Int
  ) {
    noted.withLock { $0.append(Operation(caller, call, outcome, called: called, returned: returned)) }
  }
}
