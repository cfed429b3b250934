import EskerPlatform
import EskerTestSupport

/// How many schedules to run.
enum Budget {
  case schedules(Int)
  case seconds(Int)
}

/// A schedule that failed.
struct Finding {
  let outcome: Outcome
  /// The seed of its priorities, if it has one.
  let seed: UInt64?
}

/// Runs one schedule after the other until one fails.
struct Search {
  let runner: Runner
  let budget: Budget
  let seed: UInt64
  private let start = OSClock().monotonicNanoseconds()

  init(_ runner: Runner, _ budget: Budget, seed: UInt64) {
    self.runner = runner
    self.budget = budget
    self.seed = seed
  }

  var seconds: Double { Double(OSClock().monotonicNanoseconds() - start) / 1e9 }

  private var isOver: Bool {
    switch budget {
    case .schedules(let count): runner.count >= count
    case .seconds(let count): seconds >= Double(count)
    }
  }

  /// The usual choices.
  func usual() -> Outcome { runner.run(SchedulePlan(), keepsEvents: true) }

  /// The plan of a seed; `steps` are those of the usual choices.
  static func plan(_ scenario: Scenario, seed: UInt64, steps: Int) -> SchedulePlan {
    SchedulePlan(seed: seed, depth: scenario.depth, steps: steps)
  }

  /// Orders with one deviation from the usual one, and those of one seed after the other, by turns.
  func find() -> Finding? {
    let usual = usual()
    if usual.failure != nil { return Finding(outcome: usual, seed: nil) }
    var generator = SeededGenerator(seed: seed)
    var singles = Self.singles(usual, &generator).makeIterator()
    var next = seed
    while !isOver {
      let plan = Self.plan(runner.scenario, seed: next, steps: usual.steps)
      let outcome = runner.run(plan, keepsEvents: next == seed)
      if outcome.failure != nil { return Finding(outcome: outcome, seed: next) }
      if next == seed {
        for again in [plan, SchedulePlan(outcome.deviations)] {
          expectSame(runner.run(again, keepsEvents: true), as: outcome, next)
        }
      }
      next &+= 1
      if !isOver, let (step, member) = singles.next() {
        let outcome = runner.run(SchedulePlan([step: member]))
        if outcome.failure != nil { return Finding(outcome: outcome, seed: nil) }
      }
    }
    return nil
  }

  /// Nothing that is found is of use if it cannot be found again.
  private func expectSame(_ again: Outcome, as first: Outcome, _ seed: UInt64) {
    guard again.hash != first.hash else { return }
    let same = zip(again.events, first.events).prefix {
      $0.kind == $1.kind && $0.line == $1.line && $0.chosen == $1.chosen
    }
    fatalError("the seed \(seed) of \(runner.scenario.name) does not replay: it differs at the event \(same.count)")
  }

  /// All schedules with at most two deviations from the usual choices; nil too if those are more than `most`.
  func exhaustive(most: Int) -> (finding: Finding?, isWhole: Bool) {
    let usual = usual()
    if usual.failure != nil { return (Finding(outcome: usual, seed: nil), true) }
    let singles = Self.alternatives(usual, after: -1)
    guard singles.count * singles.count / 2 <= most else { return (nil, false) }
    for (step, member) in singles {
      let single = runner.run(SchedulePlan([step: member]), keepsEvents: true)
      if single.failure != nil { return (Finding(outcome: single, seed: nil), true) }
      for (later, other) in Self.alternatives(single, after: step) {
        if isOver { return (nil, false) }
        let outcome = runner.run(SchedulePlan([step: member, later: other]))
        if outcome.failure != nil { return (Finding(outcome: outcome, seed: nil), true) }
      }
    }
    return (nil, true)
  }

  private static func alternatives(_ outcome: Outcome, after step: Int) -> [(step: Int, member: Int)] {
    outcome.events.flatMap { event -> [(step: Int, member: Int)] in
      guard event.options != 0, Int(event.step) > step else { return [] }
      return (0..<64).filter { event.options >> UInt64($0) & 1 == 1 && $0 != Int(event.chosen) }
        .map { (Int(event.step), $0) }
    }
  }

  /// All single deviations in random order, but for each place in the sources the first time that a thread is there before the second:
  /// loops do not hide what is done once.
  private static func singles(_ usual: Outcome, _ generator: inout SeededGenerator) -> [(step: Int, member: Int)] {
    var visits: [String: Int] = [:]
    var rounds: [Int: Int] = [:]
    for event in usual.events where event.options != 0 {
      let place = "\(event.member) \(event.kind) \(event.name) \(event.line)"
      visits[place, default: 0] += 1
      rounds[Int(event.step)] = visits[place]
    }
    let shuffled = alternatives(usual, after: -1).shuffled(using: &generator)
    let ranked = shuffled.enumerated().sorted {
      (rounds[$0.element.step] ?? 0, $0.offset) < (rounds[$1.element.step] ?? 0, $1.offset)
    }
    return ranked.map(\.element)
  }

  /// The same failure with as few deviations as possible.
  func shrink(_ finding: Finding) -> (deviations: [Int: Int], outcome: Outcome) {
    var deviations = finding.outcome.deviations
    var best = finding.outcome
    var chunk = max(1, deviations.count / 2)
    while true {
      var position = 0
      var isSmaller = false
      let steps = deviations.keys.sorted(by: >)
      while position < steps.count {
        var fewer = deviations
        for step in steps[position..<min(position + chunk, steps.count)] { fewer[step] = nil }
        let outcome = runner.run(SchedulePlan(fewer))
        if outcome.failure != nil, fewer.count < deviations.count {
          // What was never reached is no deviation.
          deviations = fewer.count > outcome.deviations.count ? outcome.deviations : fewer
          best = outcome
          isSmaller = true
          if deviations != fewer { break }
        }
        position += chunk
      }
      if !isSmaller {
        if chunk == 1 { return (deviations, best) }
        chunk = max(1, chunk / 2)
      }
    }
  }
}
