import EskerTestSupport

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// What a sweep is asked for.
struct Arguments: Sendable {
  var rounds = 1000
  var seed: UInt64 = 1
  /// The only round that is run.
  var only: Int?
  /// Instead of damaging at random: cuts each file of a few stores at every multiple of this.
  var cutEvery: Int?
  /// Cuts a checkpoint only at every eighth multiple: whether it is whole is seen before any of it is used.
  var isBrief = false
  var endings = Ending.allCases
  var packings = [false, true]

  static let help = """
    usage: esker-damage [--rounds N] [--seed S] [--only ROUND] [--cuts BYTES [--brief]] [--clean | --crashed] [--plain | --packed]

    Damages one file of a store at random in each round, and does with the store whatever can be done. Prints what came of
    it, and a table. Exit code 1 if something was wrong, or missing in silence from a store that was closed.

      --only ROUND   runs one round of a sweep with the same seed
      --cuts BYTES   cuts every file of a store of each sort at each multiple of so many bytes instead
      --brief        cuts a checkpoint only at every eighth of these
    """

  init?(_ words: some Sequence<String>) {
    var rest = Array(words)[...]
    func number(_ rest: inout ArraySlice<String>) -> Int? { rest.popFirst().flatMap { Int($0) } }
    while let word = rest.popFirst() {
      switch word {
      case "--rounds": guard let value = number(&rest) else { return nil }; rounds = value
      case "--seed": guard let value = number(&rest) else { return nil }; seed = UInt64(value)
      case "--only": guard let value = number(&rest) else { return nil }; only = value
      case "--cuts": guard let value = number(&rest), value > 0 else { return nil }; cutEvery = value
      case "--brief": isBrief = true
      case "--clean": endings = [.clean]
      case "--crashed": endings = [.crashed]
      case "--plain": packings = [false]
      case "--packed": packings = [true]
      default: return nil
      }
    }
  }

  /// The sorts of stores, one after the other.
  var sorts: [(ending: Ending, isPacked: Bool)] {
    endings.flatMap { ending in packings.map { (ending, $0) } }
  }
}

/// Runs a sweep; true when nothing was wrong.
func sweep(_ arguments: Arguments) async -> Bool {
  var sweep = Sweep(arguments)
  do {
    if let every = arguments.cutEvery { try await sweep.cut(every: every) } else { try await sweep.damage() }
  } catch {
    print("\(error)")
    return false
  }
  return sweep.report()
}

struct Sweep {
  private let arguments: Arguments
  private var tally = Tally()
  private var findings = 0
  private var number = 0

  /// So many rounds share a store: to make one takes as long as to examine it.
  private static let roundsPerStore = 20
  /// After how many seconds a round is given up. It takes some milliseconds.
  private static let patience: UInt32 = 300

  init(_ arguments: Arguments) {
    self.arguments = arguments
  }

  mutating func damage() async throws {
    let sorts = arguments.sorts
    var sample: SampleStore?
    var foreign: FileImage?
    for round in 0..<arguments.rounds {
      let group = round / Self.roundsPerStore
      if round % Self.roundsPerStore == 0 { sample = nil }
      if let only = arguments.only, only != round { continue }
      let sort = sorts[group % sorts.count]
      var made = SeededGenerator(seed: arguments.seed &* 1_000_003 &+ UInt64(group))
      let store = try sample ?? SampleStore(seed: made.next(), ending: sort.ending, isPacked: sort.isPacked)
      sample = store
      let other = try foreign ?? SampleStore(seed: arguments.seed &+ 7, ending: .clean, isPacked: false).image
      foreign = other
      var generator = SeededGenerator(seed: arguments.seed &* 2_000_003 &+ UInt64(round))
      let kinds = DamageKind.allCases
      let kind = kinds[Int.random(in: 0..<kinds.count, using: &generator)]
      number = round
      var damage: Damage?
      for _ in 0..<20 where damage == nil { damage = Damage(kind, of: store, other, using: &generator) }
      if let damage { try await examine(store, damage) }
    }
  }

  /// Cuts every file of a store of each sort, at every multiple of a length.
  mutating func cut(every step: Int) async throws {
    for sort in arguments.sorts {
      let sample = try SampleStore(seed: arguments.seed, ending: sort.ending, isPacked: sort.isPacked)
      // Nobody reads the reserve.
      for name in sample.image.names where name != "reserve" {
        let every = arguments.isBrief && name.hasSuffix(".checkpoint") ? 8 * step : step
        for length in stride(from: 0, to: sample.image.files[name]?.count ?? 0, by: every) {
          number += 1
          if let only = arguments.only, only != number { continue }
          try await examine(sample, Damage(cutting: name, to: length, of: sample))
        }
      }
    }
  }

  private mutating func examine(_ sample: SampleStore, _ damage: Damage) async throws {
    let sort = "\(sample.ending.rawValue) \(sample.isPacked ? "packed" : "plain")"
    say("#\(number) \(sort): \(damage)")
    // What never ends is a finding, too: the signal ends the process, and the last line says where.
    alarm(Self.patience)
    defer { alarm(0) }
    var examination = Examination(sample, damage)
    do { try await examination.run() } catch {
      say(" -> threw \(error)\n")
      findings += 1
      return
    }
    let verdict = examination.verdict
    let isBad =
      verdict.outcome == .wrong || sample.ending == .clean && [.silent, .silentDurable].contains(verdict.outcome)
    if isBad { findings += 1 }
    tally.add(verdict.outcome, of: damage.kind, sample)
    let notes = (verdict.incompleteSalvage ? " (salvage)" : "") + (verdict.exposed.isEmpty ? "" : " (exposed)")
    if arguments.only != nil {
      say("\n  " + (verdict.said + verdict.changed + verdict.exposed).joined(separator: "\n  "))
    }
    say(" -> \(verdict.outcome.rawValue)\(notes)\(isBad ? ": FINDING " + verdict.details : "")\n")
  }

  /// At once, so that a trap leaves the last line behind.
  private func say(_ text: String) {
    var text = text
    text.withUTF8 { _ = write(1, $0.baseAddress, $0.count) }
  }

  func report() -> Bool {
    tally.print()
    print(findings == 0 ? "no findings" : "\(findings) findings; seed \(arguments.seed)")
    return findings == 0
  }
}
