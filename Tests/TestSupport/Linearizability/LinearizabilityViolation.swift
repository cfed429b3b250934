/// Why a history is not linearizable.
public struct LinearizabilityViolation<Model: SequentialModel>: CustomStringConvertible {
  /// What is noted of each operation.
  public typealias Operation = RecordedOperation<Model.Call, Model.Outcome>

  /// The operation that cannot be placed. Without it, and what returned later, there is an order.
  public let misfit: Operation
  /// The longest such order.
  public let order: [Operation]
  /// The state that it leads to.
  public let state: Model.State
  /// All operations that have to do with it, in the order of their calls.
  public let history: [Operation]

  /// What had been called when the misfit returned: nothing later matters.
  public var prefix: [Operation] { history.filter { $0.called < misfit.returned } }

  /// The misfit, what it was found beside, and the end of the order that came so far.
  public var description: String {
    let (prefix, shown) = (prefix, 24)
    var lines = ["cannot be placed: \(misfit)"]
    lines.append("in the order of time, the last of \(prefix.count) operations called before it returned:")
    lines += prefix.suffix(shown).map { "  \($0)" }
    lines.append("the end of the longest order without it, of \(order.count):")
    lines += order.suffix(shown / 2).map { "  \($0)" }
    lines.append("which leads to \(state)")
    return lines.joined(separator: "\n")
  }
}
