import EskerTestSupport

/// A store from its creation on: lives of its writer, each on what a cut of the one before has left, and for each many cuts.
struct CutRound {
  private let machine: Machine
  private let settings: CutSettings
  private let fileSystem: String
  private let number: Int
  private let configuration: Configuration
  private let seed: UInt64
  private var draw: SeededGenerator
  private(set) var tally = CutTally()

  /// Cuts of what a life has recorded, and of what a check has.
  private static let (cutsOfALife, cutsOfACheck) = (80, 2)
  private static let deepest = 2

  init(_ machine: Machine, _ settings: CutSettings, _ fileSystem: String, _ number: Int) {
    self.machine = machine
    self.settings = settings
    self.fileSystem = fileSystem
    self.number = number
    configuration = settings.configuration(round: number)
    seed = mix(settings.seed, UInt64(number))
    draw = SeededGenerator(seed: mix(seed, 1))
  }

  /// Runs lives until `isOver` says so.
  mutating func run(until isOver: (CutTally) -> Bool) throws {
    let disk = machine.disk
    disk.release(to: 1)
    disk.show(VirtualDisk.Map(repeating: 0, count: disk.sectors))
    _ = try machine.perform(Order(.begin))
    var base = Recording(origin: VirtualDisk.Map(repeating: 0, count: disk.sectors))
    for life in 1...Int.random(in: 1...3, using: &draw) {
      let milliseconds = Int.random(in: 50...800, using: &draw)
      let recording = try record(order(.write(milliseconds: milliseconds), base.floor), from: base)
      if tally.mustEnd(settings) { return }
      let start = ContinuousClock.now
      let (cuts, again) = (tally.cuts, tally.cutsOfRecovery)
      try explore(recording, Self.cutsOfALife, depth: 0, isOver)
      let flushes = recording.log.count(where: \.isFlush)
      let bytes = recording.log.reduce(0) { $0 + $1.count } * VirtualDisk.sector
      let tenths = Int((ContinuousClock.now - start) / .milliseconds(100))
      StandardStreams.say(
        "\(fileSystem), round \(number) of seed \(settings.seed), life \(life): \(recording.log.count) requests, "
          + "\(flushes) flushes, \(bytes >> 10) KiB, \(recording.acknowledgements.count) acknowledgements: "
          + "\(tally.cuts - cuts) cuts, \(tally.cutsOfRecovery - again) of them during recovery, \(tenths / 10).\(tenths % 10) s"
      )
      if tally.mustEnd(settings) || isOver(tally) { return }
      // The next life begins where this one was cut off.
      let cut = Cut(of: recording.log, ignoresFlushes: settings.ignoresFlushes, &draw)
      base = recording.base(after: cut)
      if base.floor == nil { return }
    }
  }

  private mutating func order(_ task: Order.Task, _ floor: [UInt64]?) -> Order {
    var order = Order(task)
    order.fileSystem = fileSystem
    order.seed = seed
    order.draw = draw.next()
    order.floor = floor
    order.configuration = configuration
    return order
  }

  /// Has something done from a state of the disk on. What was found is told.
  private mutating func record(_ order: Order, from base: Recording, of what: String = "") throws -> Recording {
    machine.disk.show(base.origin)
    let answer = try machine.perform(order)
    let recording = Recording(
      origin: base.origin,
      log: machine.disk.log,
      floor: base.floor,
      acknowledgements: answer.acknowledgements,
      isTorn: base.isTorn
    )
    if base.isTorn, answer.findings.first?.kind == Finding.unmountable {
      tally.torn += 1
    } else if !answer.findings.isEmpty {
      try tell(answer.findings, order, base, what)
    }
    return recording
  }

  /// Checks states that cuts would have left.
  private mutating func explore(_ recording: Recording, _ count: Int, depth: Int, _ isOver: (CutTally) -> Bool) throws {
    for _ in 0..<count where !isOver(tally) {
      let mark = machine.disk.mark
      defer { machine.disk.release(to: mark) }
      let cut = Cut(of: recording.log, ignoresFlushes: settings.ignoresFlushes && depth == 0, &draw)
      let base = recording.base(after: cut)
      tally.cuts += 1
      if depth > 0 { tally.cutsOfRecovery += 1 }
      if base.floor != nil { tally.cutsWithClaims += 1 }
      let what =
        "cut \(tally.cuts) of the round, behind request \(cut.position) of \(recording.log.count), \(cut.mixture)"
      let checked = try record(
        order(.check, base.floor),
        from: base,
        of: depth == 0 ? what : "\(what), during recovery"
      )
      if tally.mustEnd(settings) { return }
      if depth < Self.deepest, draw.oneIn(3) {
        try explore(checked, Self.cutsOfACheck, depth: depth + 1, isOver)
      }
    }
  }

  // MARK: Findings

  /// Says what was found, whether the same state shows it again, and keeps it.
  private mutating func tell(_ findings: [Finding], _ order: Order, _ base: Recording, _ what: String) throws {
    tally.add(findings)
    for finding in findings { StandardStreams.say("FOUND \(finding.kind): \(finding.text)") }
    StandardStreams.say("  \(fileSystem), round \(number) of seed \(settings.seed), \(what)")
    StandardStreams.say("  configuration: \(configuration.text)")
    guard !settings.kept.isEmpty, tally.kept < CutTally.mostKept else { return }
    var again = order
    again.task = .check
    machine.disk.show(base.origin)
    let repeated = try machine.perform(again).findings.map(\.kind)
    StandardStreams.say(
      "  the same state once more: \(repeated.isEmpty ? "nothing found" : repeated.joined(separator: ", "))"
    )
    let path = "\(settings.kept)/\(fileSystem)-\(settings.seed)-\(number)-\(tally.cuts)"
    try Kept(path).write(again, base.origin, of: machine)
    tally.kept += 1
    StandardStreams.say("  kept: Tools/power-cuts --replay \(path)")
  }
}
