import EskerLog

/// What came of one damage.
struct Verdict {
  /// The worst first.
  enum Outcome: String, CaseIterable {
    /// A key had a value that it never had, or an operation had an outcome that it must not have.
    case wrong
    /// Something durable is missing, or older than it was, and nothing told of it.
    case silentDurable
    /// Something is missing, or older than it was, and nothing told of it; it had not been durable.
    case silent
    /// Something is missing, and only a cut was told of, as after a power cut.
    case cut
    /// Something is missing or cannot be read, and that was told.
    case told
    /// Nothing is missing; the damage was told.
    case toldOnly
    /// Nothing is missing, and nothing was told.
    case harmless
  }

  /// An opening threw: all of the store is refused, in words.
  var isRefused = false
  /// An event, a verification or an error of a read told of damage.
  var isTold = false
  /// An event told of a cut.
  var isCut = false
  /// What was told, in words, for whoever looks at one round.
  var said: [String] = []
  /// What must never be.
  var wrong: [String] = []
  /// Keys that show something else than they should.
  var changed: [String] = []
  /// Those of them that show something older than what was durable.
  var changedDurable: [String] = []
  /// Keys whose reading throws.
  var erring = 0
  /// Keys whose reading threw at first, and then did not any more though nobody wrote them.
  var exposed: [String] = []
  /// A salvage called itself complete, and shows something else than an opening would have.
  var incompleteSalvage = false

  var outcome: Outcome {
    if !wrong.isEmpty { return .wrong }
    if isRefused { return .told }
    if !changed.isEmpty {
      if isTold { return .told }
      if isCut { return .cut }
      return changedDurable.isEmpty ? .silent : .silentDurable
    }
    if erring > 0 { return .told }
    return isTold || isCut ? .toldOnly : .harmless
  }

  var details: String {
    (wrong + changed.prefix(6)).joined(separator: "; ")
  }
}

/// Outcomes by sample and by kind of damage.
struct Tally {
  private var counts: [String: [DamageKind: [Verdict.Outcome: Int]]] = [:]

  mutating func add(_ outcome: Verdict.Outcome, of kind: DamageKind, _ sample: SampleStore) {
    let name = "\(sample.ending.rawValue), \(sample.isPacked ? "packed" : "plain")"
    counts[name, default: [:]][kind, default: [:]][outcome, default: 0] += 1
  }

  func print() {
    for (name, kinds) in counts.sorted(by: { $0.key < $1.key }) {
      let total = kinds.values.reduce(0) { $0 + $1.values.reduce(0, +) }
      Swift.print("\(name): \(total) rounds")
      for (kind, outcomes) in kinds.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
        let parts = Verdict.Outcome.allCases.compactMap { outcome in
          outcomes[outcome].map { "\($0) \(outcome.rawValue)" }
        }
        Swift.print("  \(kind.rawValue): \(parts.joined(separator: ", "))")
      }
    }
  }
}
