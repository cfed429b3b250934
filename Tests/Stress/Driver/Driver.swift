/// Runs rounds until the time is over or something is found.
struct Driver {
  private let settings: Settings

  init(_ settings: Settings) {
    self.settings = settings
  }

  func run() {
    let start = ContinuousClock.now
    StandardStreams.say("stress: seed \(settings.seed), \(settings.seconds) s")
    var tally = Tally()
    var number = settings.round ?? 0
    repeat {
      do {
        var round = try Round(number, settings)
        let (findings, summary) = try round.run()
        tell(findings, summary, round)
        tally.add(findings, round: number, after: ContinuousClock.now - start)
        if !settings.goesOn, tally.hasFound { break }
      } catch {
        StandardStreams.complain("round \(number) could not be run: \(error)")
        exitProcess(3)
      }
      if settings.round == nil { number += 1 }
    } while ContinuousClock.now - start < .seconds(settings.seconds)
    tally.tell()
    exitProcess(tally.hasFound ? 1 : 0)
  }

  private func tell(_ findings: [(isIgnored: Bool, finding: Finding)], _ summary: String, _ round: Round) {
    let found = findings.filter { !$0.isIgnored }
    let passed = findings.count - found.count
    let result = found.isEmpty ? "nothing found" : "FOUND"
    StandardStreams.say("\(summary): \(result)\(passed > 0 ? ", \(passed) ignored" : "")")
    for (_, finding) in found { StandardStreams.say("  \(finding.kind): \(finding.text)") }
    guard !found.isEmpty else { return }
    StandardStreams.say("  configuration: \(round.words)")
    if settings.keeps { StandardStreams.say("  kept: \(round.keep())") }
  }
}

/// Findings by kind.
struct Tally {
  private var kinds: [String: (rounds: [Int], first: Duration, isIgnored: Bool)] = [:]
  private(set) var hasFound = false

  mutating func add(_ findings: [(isIgnored: Bool, finding: Finding)], round: Int, after time: Duration) {
    for (isIgnored, finding) in findings {
      if !isIgnored { hasFound = true }
      var known = kinds[finding.kind] ?? ([], time, isIgnored)
      if known.rounds.last != round { known.rounds.append(round) }
      kinds[finding.kind] = known
    }
  }

  func tell() {
    for (kind, known) in kinds.sorted(by: { $0.value.first < $1.value.first }) {
      let rounds = "\(known.rounds.count) \(known.rounds.count == 1 ? "round" : "rounds")"
      let first = "first in round \(known.rounds[0]) after \(known.first / .seconds(1)) s"
      StandardStreams.say("\(known.isIgnored ? "ignored" : "found"): \(kind): in \(rounds), \(first)")
    }
  }
}
