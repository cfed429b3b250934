/// The search through the orders of one part of a history.
struct LinearizationSearch<Model: SequentialModel> {
  typealias Operation = RecordedOperation<Model.Call, Model.Outcome>

  enum Result {
    case found
    case none(LinearizabilityViolation<Model>)
    case tooLong
  }

  /// What was reached: which operations were taken, as bits, and the state that they led to. Of the bits only those words are kept in which
  /// some but not all are set: there are millions of these, each of a few operations that overlap.
  private struct Configuration: Hashable {
    private let first: Int
    private let taken: [UInt64]
    private let state: Model.State

    init(_ taken: [UInt64], _ state: Model.State) {
      first = taken.firstIndex { $0 != .max } ?? taken.count
      let end = taken.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0
      self.taken = Array(taken[first..<max(first, end)])
      self.state = state
    }
  }

  private let model: Model
  private let operations: [Operation]
  private let limit: Int

  /// The calls and returns in the order of time, as a list: of each the one before and after it. Number 0 is the list's ends; call number
  /// `i` is 2i + 1, and its return 2i + 2.
  private var next: [Int]
  private var previous: [Int]

  init(_ model: Model, _ operations: [Operation], limit: Int) {
    self.model = model
    self.operations = operations.sorted { $0.called < $1.called }
    self.limit = limit
    var events: [(time: Int, event: Int)] = []
    for (number, operation) in self.operations.enumerated() {
      events.append((operation.called, 2 * number + 1))
      if operation.outcome != nil { events.append((operation.returned, 2 * number + 2)) }
    }
    events.sort { $0 < $1 }
    next = Array(repeating: 0, count: 2 * operations.count + 1)
    previous = next
    var last = 0
    for (_, event) in events {
      next[last] = event
      previous[event] = last
      last = event
    }
    previous[0] = last
  }

  mutating func run() -> Result {
    var state = model.initial
    var taken = [UInt64](repeating: 0, count: (operations.count + 63) / 64)
    var order: [(number: Int, before: Model.State)] = []
    var visited: Set<Configuration> = []
    var missing = operations.count { $0.outcome != nil }
    var steps = 0
    // The return that no order got beyond, and the longest order that got there.
    var misfit = -1
    var longest: (order: [Int], state: Model.State) = ([], state)
    var event = next[0]
    while missing > 0 {
      steps += 1
      guard steps <= limit else { return .tooLong }
      if event % 2 == 1 {
        let number = event / 2
        let operation = operations[number]
        taken[number / 64] |= 1 << (number % 64)
        if let after = model.state(after: operation.call, operation.outcome, in: state),
          visited.insert(Configuration(taken, after)).inserted
        {
          order.append((number, state))
          state = after
          missing -= operation.outcome == nil ? 0 : 1
          take(number)
          event = next[0]
        } else {
          taken[number / 64] &= ~(1 << (number % 64))
          event = next[event]
        }
        continue
      }
      if event > 0 {
        let number = event / 2 - 1
        let isLater = misfit < 0 || operations[number].returned > operations[misfit].returned
        if isLater || number == misfit && order.count > longest.order.count {
          misfit = number
          longest = (order.map(\.number), state)
        }
      }
      guard let last = order.popLast() else {
        return .none(
          LinearizabilityViolation(
            misfit: operations[misfit],
            order: longest.order.map { operations[$0] },
            state: longest.state,
            history: operations
          )
        )
      }
      state = last.before
      taken[last.number / 64] &= ~(1 << (last.number % 64))
      missing += operations[last.number].outcome == nil ? 0 : 1
      putBack(last.number)
      event = next[2 * last.number + 1]
    }
    return .found
  }

  private mutating func take(_ number: Int) {
    unlink(2 * number + 1)
    if operations[number].outcome != nil { unlink(2 * number + 2) }
  }

  /// Operations are put back in the opposite order, so each event still knows its place.
  private mutating func putBack(_ number: Int) {
    if operations[number].outcome != nil { link(2 * number + 2) }
    link(2 * number + 1)
  }

  private mutating func unlink(_ event: Int) {
    next[previous[event]] = next[event]
    previous[next[event]] = previous[event]
  }

  private mutating func link(_ event: Int) {
    next[previous[event]] = event
    previous[next[event]] = event
  }
}
