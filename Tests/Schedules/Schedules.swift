import CFork
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
    fflush(nil)
    return search(scenarios, options)
  }

  /// Searches all of them, each in a process of its own, so many at once.
  nonisolated private static func search(_ scenarios: [Scenario], _ options: SearchOptions) -> Int32 {
    var running = 0
    var result: Int32 = 0
    func awaitOne() {
      var status: Int32 = 0
      while waitpid(-1, &status, 0) < 0, errno == EINTR {}
      running -= 1
      if status != 0 { result = 1 }
    }
    for scenario in scenarios where result == 0 {
      let process = esker_fork()
      guard process >= 0 else { fatalError("there is no process") }
      if process == 0 { exit(search(scenario, options) ? 0 : 1) }
      running += 1
      if running == options.jobs { awaitOne() }
    }
    while running > 0 { awaitOne() }
    return result
  }

  /// Whether nothing was found.
  nonisolated private static func search(_ scenario: Scenario, _ options: SearchOptions) -> Bool {
    guard let trace = ScheduleTrace() else { fatalError("there is no memory for a trace") }
    let search = Search(Runner(scenario, trace), options.budget, seed: options.seed)
    guard let finding = find(search, scenario, options) else { return true }
    report(finding, search, options)
    return false
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
