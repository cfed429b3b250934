/// What a state of the store may be, by what is known from outside.
struct Claim {
  /// What was looked at: "snapshot", "backup".
  var subject: String
  /// The number of the last write it shows is one of these.
  var sequences: ClosedRange<UInt64>
  /// Its instant is one of these, in store time.
  var times: ClosedRange<Int64>
  /// For each thread, a write that it shows at least.
  var floor: [UInt64]
}

/// Compares what was seen with what the scripts say.
struct Comparison {
  let scripts: [Script]
  let places: Places
  let ledger: Ledger
  /// Whether anything may be missing, since the store makes room.
  let isEvicting: Bool

  /// What is wrong with what was seen, and for each thread the last write that it shows.
  func judge(_ census: Census, _ claim: Claim) -> (findings: [Finding], last: [UInt64]) {
    var findings = census.oddities.map { Finding("\(claim.subject) \($0.kind)", "\(claim.words): \($0.text)") }
    var last: [UInt64] = []
    for thread in scripts.indices {
      let possible = ledger.lastWrites(shownAt: claim.sequences, thread)
      let least = max(possible.lowerBound, claim.floor[thread])
      guard least <= possible.upperBound else {
        let text = "\(claim.words): can show writes of thread \(thread) up to \(possible), but \(least) was seen before"
        findings.append(Finding("\(claim.subject) goes back", text))
        last.append(least)
        continue
      }
      let seen = census.numbers[thread].reduce(0) { $1 == Script.absent ? $0 : max($0, $1) }
      // What comes after the highest number that is shown, if anything, are removals: at most two of them in a row.
      let first = min(max(least, seen), possible.upperBound)
      var best: Differences?
      for candidate in first...min(first + 2, possible.upperBound) {
        let differences = Differences(self, census, claim, thread, after: candidate)
        if differences.count < best?.count ?? .max { best = differences }
        if best?.count == 0 { break }
      }
      guard let best else { continue }
      last.append(best.last)
      findings += best.findings(possible)
    }
    return (findings, last)
  }
}

extension Claim {
  var words: String {
    let number =
      sequences.count == 1 ? "#\(sequences.lowerBound)" : "#\(sequences.lowerBound) to #\(sequences.upperBound)"
    return "\(subject) at \(number)"
  }
}
