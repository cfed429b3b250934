import EskerPlatform

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The program behind Tools/schedules, whose help says what it does.
@main struct Schedules {
  static func main() {
    guard let options = SearchOptions(CommandLine.arguments.dropFirst()) else { exit(2) }
    exit(run(options))
  }

  nonisolated private static func run(_ options: SearchOptions) -> Int32 {
    guard let trace = ScheduleTrace() else { fatalError("there is no memory for a trace") }
    if options.lists {
      for scenario in Scenario.all { print(pad(scenario.name, 22) + scenario.about) }
      return 0
    }
    let scenarios = Scenario.all.filter { options.scenario == nil || options.scenario == $0.name }
    guard !scenarios.isEmpty else {
      print("there is no scenario \(options.scenario ?? ""); --list names them")
      return 2
    }
    always("a store can be used") { try Machine.warmUp() }
    print(pad("scenario", 22) + ["schedules", "a second", "points each", "choices each"].map { column($0) }.joined())
    for scenario in scenarios {
      let runner = Runner(scenario, trace)
      let search = Search(runner, options.budget, seed: options.seed)
      if let finding = find(search, scenario, options) {
        report(finding, search, options)
        return 1
      }
    }
    return 0
  }

  /// Searches, and prints how much.
  nonisolated private static func find(_ search: Search, _ scenario: Scenario, _ options: SearchOptions) -> Finding? {
    let runner = search.runner
    if let deviations = options.deviations {
      let outcome = runner.run(SchedulePlan(deviations))
      if outcome.failure == nil { Story(runner.trace).lines.forEach { print($0) } }
      return outcome.failure == nil ? nil : Finding(outcome: outcome, seed: nil)
    }
    let steps = search.usual().steps
    if let seed = options.replay {
      let outcome = runner.run(Search.plan(scenario, seed: seed, steps: steps))
      if outcome.failure == nil { Story(runner.trace).lines.forEach { print($0) } }
      return outcome.failure == nil ? nil : Finding(outcome: outcome, seed: seed)
    }
    var note = ""
    var finding: Finding?
    if options.isExhaustive {
      let (found, isWhole) = search.exhaustive(most: 100_000)
      finding = found
      note = isWhole ? "  all with two deviations" : "  not all with two deviations"
    } else {
      finding = search.find()
    }
    let count = max(runner.count, 1)
    let cells = [count, Int(Double(count) / search.seconds), runner.points / count, steps]
    print(pad(scenario.name, 22) + cells.map { column("\($0)") }.joined() + note)
    fflush(nil)
    return finding
  }

  nonisolated private static func report(_ finding: Finding, _ search: Search, _ options: SearchOptions) {
    let name = search.runner.scenario.name
    let before = search.runner.count
    print("\n\(name): \(finding.outcome.failure ?? "")")
    if let seed = finding.seed { print("replay it with Tools/schedules \(name) --replay \(seed)") }
    let (deviations, outcome) = search.shrink(finding)
    let again = search.runner.run(SchedulePlan(deviations))
    precondition(again.hash == outcome.hash && again.failure != nil, "what was found does not replay")
    let list = deviations.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }.joined(separator: ",")
    let (all, runs) = (finding.outcome.deviations.count, search.runner.count - before)
    print("from \(all) deviations to \(deviations.count), in \(runs) runs:")
    print("Tools/schedules \(name) --schedule \(list.isEmpty ? "usual" : list)\n")
    Story(search.runner.trace).lines.forEach { print($0) }
    print("\n\(again.failure ?? "")")
  }

  nonisolated private static func pad(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }

  nonisolated private static func column(_ text: String) -> String {
    String(repeating: " ", count: max(1, 14 - text.count)) + text
  }
}
