/// Whether a history is linearizable: whether each operation can have taken effect at one instant between its call and its return.
///
/// The search of Wing and Gong, with what Lowe added: whenever an operation can come next, it is taken, unless the same operations have led
/// to the same state before; at a return of an operation that was not taken, the last one taken is put back. An operation without an
/// outcome never returns, so it may be taken at any time, and need not be.
public struct LinearizabilityChecker<Model: SequentialModel> {
  /// What it checks.
  public typealias Operation = RecordedOperation<Model.Call, Model.Outcome>

  /// What the search found.
  public enum Verdict {
    case linearizable
    case violation(LinearizabilityViolation<Model>)
    /// It was given up after so many steps: nothing was found, and nothing shown.
    case undecided(operations: Int)
  }

  private let model: Model
  private let limit: Int

  /// A search gives up after `limit` steps: what a history needs is a few steps for each operation, unless many overlap.
  public init(_ model: Model, limit: Int = 1_000_000) {
    self.model = model
    self.limit = limit
  }

  /// Checks a history; of several violations it returns the one that shows first.
  public func check(_ history: [Operation]) -> Verdict {
    var first: LinearizabilityViolation<Model>?
    var undecided = 0
    for part in components(of: history) {
      var search = LinearizationSearch(model, part, limit: limit)
      switch search.run() {
      case .found: continue
      case .none(let violation):
        if violation.misfit.returned < first?.misfit.returned ?? .max { first = violation }
      case .tooLong: undecided += part.count
      }
    }
    if let first { return .violation(first) }
    return undecided > 0 ? .undecided(operations: undecided) : .linearizable
  }

  /// What a test says of a history; nil if no violation was found. Where many operations overlap, as on a machine under load, the search may
  /// be given up: that is printed.
  public func objection(to history: [Operation]) -> String? {
    switch check(history) {
    case .linearizable: return nil
    case .violation(let violation): return "\(violation)"
    case .undecided(let count):
      print("LinearizabilityChecker: given up after \(limit) steps, of \(count) operations")
      return nil
    }
  }

  /// The history in parts that have nothing to do with each other.
  public func components(of history: [Operation]) -> [[Operation]] {
    var leaders: [Int: Int] = [:]
    func leader(_ part: Int) -> Int {
      var part = part
      while let next = leaders[part], next != part { part = next }
      return part
    }
    var parts: [[Int]] = []
    for operation in history {
      guard let own = model.parts(of: operation.call), let first = own.first else { return [history] }
      for part in own { leaders[leader(part)] = leader(first) }
      parts.append(own)
    }
    let groups = Dictionary(grouping: history.indices) { leader(parts[$0][0]) }
    return groups.sorted { $0.value[0] < $1.value[0] }.map { $0.value.map { history[$0] } }
  }
}
