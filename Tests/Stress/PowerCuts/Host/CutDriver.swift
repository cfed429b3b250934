/// Cuts the power of a machine for each file system, until there were enough cuts or the time is over.
struct CutDriver {
  private let settings: CutSettings

  init(_ settings: CutSettings) { self.settings = settings }

  func run() {
    do {
      if let path = settings.replayed {
        let findings = try Kept(path).replay(settings)
        for finding in findings { StandardStreams.say("FOUND \(finding.kind): \(finding.text)") }
        if findings.isEmpty { StandardStreams.say("nothing found") }
        exitProcess(findings.isEmpty ? 0 : 1)
      }
      StandardStreams.say("power cuts: seed \(settings.seed)")
      var hasFound = false
      for (name, image) in settings.images where !hasFound || settings.goesOn {
        if try run(name, image).hasFound { hasFound = true }
      }
      exitProcess(hasFound ? 1 : 0)
    } catch {
      StandardStreams.complain("the virtual machine ended, or could not be started (\(error)): see \(settings.console)")
      exitProcess(3)
    }
  }

  private func run(_ name: String, _ image: String) throws -> CutTally {
    let machine = try Machine.start(settings, name, image: image)
    let start = ContinuousClock.now
    var tally = CutTally()
    var number = settings.round ?? 0
    func isOver(_ round: CutTally) -> Bool {
      tally.cuts + round.cuts >= settings.cuts || ContinuousClock.now - start >= .seconds(settings.seconds)
    }
    repeat {
      var round = CutRound(machine, settings, name, number)
      try round.run(until: isOver)
      tally.add(round.tally)
      if settings.round == nil { number += 1 }
    } while !tally.mustEnd(settings) && !isOver(CutTally())
    tell(tally, name, ContinuousClock.now - start)
    return tally
  }

  private func tell(_ tally: CutTally, _ name: String, _ time: Duration) {
    let seconds = max(1, Int(time / .seconds(1)))
    let found = tally.kinds.sorted { $0.value.first < $1.value.first }
      .map { "\($0.key): \($0.value.count), first at cut \($0.value.first)" }
    StandardStreams.say(
      "\(name): \(tally.cuts) cuts in \(seconds) s, \(tally.cutsOfRecovery) of them during recovery, "
        + "\(tally.cutsWithClaims) behind durable writes, \(tally.torn) file systems torn: \(found.isEmpty ? "nothing found" : "FOUND \(found.joined(separator: "; "))")"
    )
  }
}
