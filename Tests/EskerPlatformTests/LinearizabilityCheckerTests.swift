import EskerTestSupport
import Testing

/// The checker of histories, on some whose verdict is known, and on random ones against a search that knows no tricks.
@Suite struct LinearizabilityCheckerTests {
  /// Two registers that begin with 0.
  private struct Registers: SequentialModel {
    enum Call: Hashable {
      case read(Int)
      case write(Int, Int)
      case compareAndSet(Int, from: Int, to: Int)
      case writeBoth(Int)
      case readBoth
    }

    let initial = [0, 0]

    func parts(of call: Call) -> [Int]? {
      switch call {
      case .read(let key), .write(let key, _), .compareAndSet(let key, _, _): [key]
      case .writeBoth, .readBoth: [0, 1]
      }
    }

    /// Outcomes: what was read, or whether it was set.
    func state(after call: Call, _ outcome: [Int]?, in state: [Int]) -> [Int]? {
      var after = state
      var actual = [1]
      switch call {
      case .read(let key): actual = [state[key]]
      case .readBoth: actual = state
      case .write(let key, let value): after[key] = value
      case .writeBoth(let value): after = [value, value]
      case .compareAndSet(let key, let old, let new):
        if state[key] == old { after[key] = new } else { actual = [0] }
      }
      return outcome == nil || outcome == actual ? after : nil
    }
  }

  private typealias Operation = RecordedOperation<Registers.Call, [Int]>

  /// An operation of a caller that has its number for a name; without an outcome, nobody knows it.
  private func operation(_ call: Registers.Call, _ outcome: Int..., at times: ClosedRange<Int>) -> Operation {
    let known = outcome.isEmpty ? (isRead(call) ? nil : [1]) : outcome
    return Operation("", call, known, called: times.lowerBound, returned: times.upperBound)
  }

  private func unknown(_ call: Registers.Call, from time: Int) -> Operation {
    Operation("", call, nil, called: time, returned: .max)
  }

  private func isRead(_ call: Registers.Call) -> Bool {
    switch call {
    case .read, .readBoth: true
    default: false
    }
  }

  private func misfit(of history: [Operation]) -> Operation? {
    guard case .violation(let violation) = LinearizabilityChecker(Registers()).check(history) else { return nil }
    return violation.misfit
  }

  private func isLinearizable(_ history: [Operation]) -> Bool {
    guard case .linearizable = LinearizabilityChecker(Registers()).check(history) else { return false }
    return true
  }

  @Test func whatOverlapsMayHaveEitherOrder() {
    #expect(isLinearizable([]))
    #expect(isLinearizable([operation(.write(0, 1), at: 1...4), operation(.read(0), 0, at: 2...3)]))
    #expect(isLinearizable([operation(.write(0, 1), at: 1...4), operation(.read(0), 1, at: 2...3)]))
    #expect(
      isLinearizable([
        operation(.write(0, 1), at: 1...6), operation(.write(0, 2), at: 2...7), operation(.read(0), 2, at: 3...4),
        operation(.read(0), 1, at: 5...8),
      ])
    )
  }

  @Test func aStaleReadIsFound() {
    let history = [
      operation(.write(0, 1), at: 1...2), operation(.write(0, 2), at: 3...4), operation(.read(0), 1, at: 5...6),
      operation(.read(0), 2, at: 7...8),
    ]
    #expect(misfit(of: history)?.called == 5)
  }

  @Test func aReadOfTheFutureIsFound() {
    let history = [operation(.read(0), 1, at: 1...2), operation(.write(0, 1), at: 3...4)]
    #expect(misfit(of: history)?.called == 1)
  }

  @Test func aLostUpdateIsFound() {
    let history = [
      operation(.compareAndSet(0, from: 0, to: 1), 1, at: 1...3),
      operation(.compareAndSet(0, from: 0, to: 2), 1, at: 2...4),
    ]
    #expect(misfit(of: history)?.returned == 4)
    #expect(isLinearizable([history[0], operation(.compareAndSet(0, from: 0, to: 2), 0, at: 2...4)]))
  }

  @Test func readersMustAgreeOnTheOrder() {
    let writes = [operation(.write(0, 1), at: 1...20), operation(.write(0, 2), at: 2...21)]
    let first = [operation(.read(0), 1, at: 3...4), operation(.read(0), 2, at: 7...8)]
    #expect(isLinearizable(writes + first))
    #expect(misfit(of: writes + first + [operation(.read(0), 1, at: 9...10)])?.called == 9)
    // Two that overlap see one write before the other, and the other before that.
    let second = [operation(.read(0), 2, at: 5...6), operation(.read(0), 1, at: 9...10)]
    #expect(misfit(of: writes + first + second) != nil)
  }

  @Test func whatNobodyKnowsHappensOnceLateOrNever() {
    let lost = unknown(.write(0, 1), from: 1)
    #expect(isLinearizable([lost, operation(.read(0), 0, at: 2...3)]))
    #expect(isLinearizable([lost, operation(.read(0), 0, at: 2...3), operation(.read(0), 1, at: 4...5)]))
    let undone = [lost, operation(.read(0), 1, at: 2...3), operation(.read(0), 0, at: 4...5)]
    #expect(misfit(of: undone)?.called == 4)
    let twice = [
      lost, operation(.read(0), 1, at: 2...3), operation(.write(0, 2), at: 4...5), operation(.read(0), 1, at: 6...7),
    ]
    #expect(misfit(of: twice)?.called == 6)
    #expect(misfit(of: [operation(.read(0), 1, at: 1...2), unknown(.write(0, 1), from: 3)])?.called == 1)
  }

  @Test func partsThatMeetInOneCallAreCheckedTogether() {
    let both = operation(.writeBoth(1), at: 1...8)
    let apart = [operation(.read(0), 1, at: 2...3), operation(.read(1), 0, at: 4...5)]
    #expect(isLinearizable([operation(.write(0, 1), at: 1...8)] + apart))
    #expect(misfit(of: [both] + apart)?.called == 4)
    #expect(misfit(of: [both, operation(.readBoth, 1, 0, at: 2...3)]) != nil)
    let checker = LinearizabilityChecker(Registers())
    #expect(checker.components(of: apart).count == 2)
    #expect(checker.components(of: apart + [both]).count == 1)
  }

  @Test func theExplanationEndsWithTheMisfit() throws {
    let history = [
      operation(.write(0, 1), at: 1...2), operation(.write(0, 2), at: 3...4), operation(.read(0), 1, at: 5...6),
      operation(.write(0, 3), at: 7...8),
    ]
    guard case .violation(let violation) = LinearizabilityChecker(Registers()).check(history) else {
      Issue.record("not found")
      return
    }
    #expect(violation.prefix.map(\.called) == [1, 3, 5])
    #expect(violation.order.map(\.called) == [1, 3])
    #expect(violation.state == [2, 0])
    #expect(violation.description.contains("cannot be placed: [5, 6] : read(0) -> [1]"))
    #expect(!violation.description.contains("[7, 8]"))
  }

  @Test func aSearchThatIsGivenUpDecidesNothing() {
    let history = (1...12).map { operation(.write(0, $0), at: $0...100 + $0) } + [operation(.read(0), 99, at: 50...51)]
    guard case .undecided(13) = LinearizabilityChecker(Registers(), limit: 1000).check(history) else {
      Issue.record("decided")
      return
    }
  }

  /// All orders of all that returned and some of what did not, looked at one by one.
  private func bruteForce(_ history: [Operation]) -> Bool {
    let model = Registers()
    func fits(_ order: [Operation]) -> Bool {
      for (place, operation) in order.enumerated() {
        if order[(place + 1)...].contains(where: { $0.returned < operation.called }) { return false }
      }
      var state = model.initial
      for operation in order {
        guard let after = model.state(after: operation.call, operation.outcome, in: state) else { return false }
        state = after
      }
      return true
    }
    func hasOrder(_ order: [Operation], _ rest: [Operation]) -> Bool {
      if rest.allSatisfy({ $0.outcome == nil }), fits(order) { return true }
      return rest.indices.contains { place in
        var others = rest
        let next = others.remove(at: place)
        return hasOrder(order + [next], others)
      }
    }
    return hasOrder([], history)
  }

  @Test(.timeLimit(.minutes(60))) func randomHistoriesGetTheVerdictOfAllPermutations() {
    var random = SeededGenerator(announcedFor: "randomHistoriesGetTheVerdictOfAllPermutations")
    var verdicts = [0, 0]
    for _ in 0..<Rounds.count(3_000, thorough: 50_000) {
      let count = Int.random(in: 1...5, using: &random)
      let times = Array(1...2 * count).shuffled(using: &random)
      let history = (0..<count).map { number -> Operation in
        let (one, two) = (times[2 * number], times[2 * number + 1])
        let key = random.oneIn(4) ? 1 : 0
        func value() -> Int { Int.random(in: 0...2, using: &random) }
        let call: Registers.Call
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<5: call = .read(key)
        case 5..<8: call = .write(key, value())
        case 8, 9: call = .compareAndSet(key, from: value(), to: value())
        case 10: call = .writeBoth(value())
        default: call = .readBoth
        }
        var outcome: [Int]?
        switch call {
        case .read: outcome = [value()]
        case .readBoth: outcome = [value(), value()]
        case .compareAndSet: outcome = [min(1, value())]
        case .write, .writeBoth: outcome = [1]
        }
        if random.oneIn(6) { outcome = nil }
        return Operation("\(number)", call, outcome, called: min(one, two), returned: max(one, two))
      }
      let expected = bruteForce(history)
      verdicts[expected ? 1 : 0] += 1
      #expect(isLinearizable(history) == expected, "\(history)")
      guard !expected, let misfit = misfit(of: history) else { continue }
      // What is named is where it begins: what had returned before has an order.
      let before = history.filter { $0.called < misfit.returned }.map { operation in
        operation.returned < misfit.returned
          ? operation : Operation("", operation.call, nil, called: operation.called, returned: .max)
      }
      // A read without an outcome asks for nothing.
      #expect(bruteForce(before), "\(history)")
    }
    #expect(verdicts.allSatisfy { $0 > 300 }, "\(verdicts)")
  }
}
