import EskerPlatform
import EskerTestSupport

/// One store's life: lives of its writer, beside readers, and a last look.
struct Round {
  private let number: Int
  private let settings: Settings
  private let configuration: Configuration
  private let directory: TemporaryDirectory
  private let ledger: Ledger
  private let assignment: Assignment
  private var writer: ChildProcess?
  private var readers: [ChildProcess] = []
  private var draw: SeededGenerator
  private var lives = 0
  private var rests: UInt64 = 0
  /// What each process said last of its progress, and since when it has not changed.
  private var pulses: [UInt64] = []
  private var stillSince: [ContinuousClock.Instant] = []

  /// Something was found, or a process has ended that should not have.
  struct Stop: Error {}

  init(_ number: Int, _ settings: Settings) throws {
    self.number = number
    self.settings = settings
    configuration = settings.configuration(round: number)
    directory = try TemporaryDirectory(in: configuration.memory != 0 ? Self.memory : nil)
    ledger = try Ledger(at: directory.appending("ledger"), threads: configuration.threads)
    ledger[.clock] = UInt64(bitPattern: Script.time(of: 0))
    draw = SeededGenerator(seed: mix(settings.seed, UInt64(number) &+ 1 << 40))
    assignment = Assignment(
      directory: directory.path,
      configuration,
      seed: mix(settings.seed, UInt64(number)),
      participant: 0,
      ignored: settings.ignored
    )
  }

  /// Where files are in memory; nil if the system has no such place.
  private static var memory: String? {
    let path = "/dev/shm"
    return (try? OSFileSystem().status(path)) != nil ? path : nil
  }

  /// Runs the round. What was found, and a line that tells what was done.
  mutating func run() throws -> (findings: [(isIgnored: Bool, finding: Finding)], summary: String) {
    let start = ContinuousClock.now
    var last: [Finding] = []
    do {
      try live()
      ledger[.isOver] = 1
      try end()
    } catch is Stop {
      last = killAll()
    }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    let noted = try FindingsFile(at: directory.appending("findings")).findings
    return (noted + last.map { (false, $0) }, summary(seconds))
  }

  /// The writer's lives, each with rests in between.
  private mutating func live() throws {
    let count = configuration.kills + 1 + Int.random(in: 0...1, using: &draw)
    let phases = count + Int.random(in: 0...2, using: &draw)
    let slice = max(1, settings.roundSeconds * 1000 / (phases + 1))
    for life in 0..<count {
      ledger[.lifeToEnd] = UInt64(life)
      try startWriter(life)
      if life == 0 { try startReaders() }
      let isLast = life == count - 1
      for _ in 0..<(isLast ? phases - count + 1 : 1) {
        try pass(milliseconds: Int.random(in: slice / 4...slice, using: &draw))
        if isLast || draw.oneIn(2) { try rest() }
      }
      try pass(milliseconds: Int.random(in: 0...slice / 4, using: &draw))
      if life < configuration.kills {
        ledger.add(.kills)
        writer?.kill()
      } else if !isLast {
        try closeWriter(life)
      }
    }
    try closeWriter(count - 1)
  }

  private mutating func startWriter(_ life: Int) throws {
    lives += 1
    writer = try ChildProcess("writer", ["writer"] + assignment.arguments)
    while ledger[.life] < UInt64(life + 1) { try pass(milliseconds: 1) }
  }

  private mutating func startReaders() throws {
    for number in 0..<configuration.openers + configuration.followers {
      var assignment = assignment
      assignment.participant = number + 1
      readers.append(try ChildProcess("reader \(number + 1)", ["reader"] + assignment.arguments))
    }
  }

  private mutating func closeWriter(_ life: Int) throws {
    ledger[.lifeToEnd] = UInt64(life + 1)
    while writer?.poll() == .running { try pass(milliseconds: 1, mayEnd: true) }
    guard writer?.state == .exited(0) else { throw Stop() }
  }

  /// Has the writer stand still until everybody has seen where it stands.
  private mutating func rest() throws {
    rests += 1
    ledger[.restAsked] = rests
    while (0...readers.count).contains(where: { ledger.reached($0) < rests }) { try pass(milliseconds: 1) }
    ledger[.restOver] = rests
  }

  /// Readers end by themselves, and what is left is looked at.
  private mutating func end() throws {
    for index in readers.indices {
      while readers[index].poll() == .running { try pass(milliseconds: 1, mayEnd: true) }
      guard readers[index].state == .exited(0) else { throw Stop() }
    }
    var checker = try ChildProcess("checker", ["checker"] + assignment.arguments)
    let state = checker.join()
    guard state == .exited(0) else {
      writer = checker
      throw Stop()
    }
  }

  /// Lets time pass and looks whether all are still there and go on.
  private mutating func pass(milliseconds: Int, mayEnd: Bool = false) throws {
    var left = milliseconds
    repeat {
      pauseThread(microseconds: min(left, 20) * 1000)
      left -= 20
      if writer?.poll() != .running, !mayEnd { throw Stop() }
      for index in readers.indices where readers[index].poll() != .running {
        guard mayEnd, readers[index].state == .exited(0) else { throw Stop() }
      }
      try lookForProgress()
    } while left > 0
  }

  /// A process that does nothing for so long hangs: long enough for the slowest machine.
  private static let patience = Duration.seconds(300)

  private mutating func lookForProgress() throws {
    let now = ContinuousClock.now
    for index in 0...readers.count {
      let done = index == 0 ? UInt64(ledger.writes(configuration.threads)) &+ ledger[.restOver] : 0
      let pulse = ledger.pulse(index) &+ done
      if pulses.count == index {
        pulses.append(pulse)
        stillSince.append(now)
      } else if pulses[index] != pulse {
        pulses[index] = pulse
        stillSince[index] = now
      } else if now - stillSince[index] > Self.patience {
        throw Stop()
      }
    }
  }

  /// Ends all processes; those that died by themselves are findings.
  private mutating func killAll() -> [Finding] {
    var findings: [Finding] = []
    var all = readers
    if let writer { all.append(writer) }
    let stuck = stillSince.indices.filter { ContinuousClock.now - stillSince[$0] > Self.patience }
    for participant in stuck {
      findings.append(Finding("process hangs", "participant \(participant) has done nothing for \(Self.patience)"))
    }
    for index in all.indices {
      switch all[index].poll() {
      case .running: all[index].kill()
      case .signalled(let signal) where !all[index].wasKilled:
        findings.append(Finding("process died", "\(all[index].name) died of signal \(signal)"))
      case .exited(let code) where code > 1:
        findings.append(Finding("process failed", "\(all[index].name) ended with exit code \(code)"))
      default: break
      }
    }
    return findings
  }

  private func summary(_ seconds: Double) -> String {
    let counts: [(String, Int)] = [
      ("writes", ledger.writes(configuration.threads)), ("lives", lives), ("kills", Int(ledger[.kills])),
      ("rests", Int(rests)), ("merges", Int(ledger[.merges])), ("snapshots", Int(ledger[.snapshots])),
      ("dumps", Int(ledger[.dumps])), ("openings", Int(ledger[.openings])), ("refreshes", Int(ledger[.refreshes])),
      ("gets", Int(ledger[.gets])), ("backups", Int(ledger[.backups])),
      ("verifications", Int(ledger[.verifications])),
    ]
    let done = counts.map { "\($0.1) \($0.0)" }.joined(separator: ", ")
    let tenths = Int(seconds * 10)
    return "round \(number) of seed \(settings.seed), \(tenths / 10).\(tenths % 10) s: \(done)"
  }

  /// Leaves the directory for somebody to look at.
  func keep() -> String {
    _ = Unmanaged.passRetained(directory)
    return directory.path
  }

  var words: String { configuration.text }
}
