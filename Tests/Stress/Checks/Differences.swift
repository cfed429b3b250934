/// How what was seen of a thread's keys differs from their state after one of its writes.
struct Differences {
  /// The write whose state was compared.
  let last: UInt64
  private let comparison: Comparison
  private let claim: Claim
  private let thread: Int
  /// What is wrong, by kind: how often, and the first examples.
  private var kinds: [String: (count: Int, examples: [String])] = [:]
  private(set) var count = 0

  init(_ comparison: Comparison, _ census: Census, _ claim: Claim, _ thread: Int, after last: UInt64) {
    self.last = last
    self.comparison = comparison
    self.claim = claim
    self.thread = thread
    let script = comparison.scripts[thread]
    let expected = script.state(after: last)
    let seen = census.numbers[thread]
    let versions = census.versions[thread]
    let expiring = script.layout.start(.expiring)..<script.layout.start(.reset)
    for place in expected.indices {
      if seen[place] != Script.absent { lookAt(versions[place], of: seen[place], at: place) }
      // Of what is due between the two instants nothing is known.
      let due = expiring.contains(place) && expected[place] != Script.absent ? script.expiry(of: expected[place]) : .max
      if due <= claim.times.lowerBound {
        if seen[place] != Script.absent { note("shows what has expired", place, expected[place], seen[place]) }
        continue
      }
      guard seen[place] != expected[place] else { continue }
      if seen[place] == Script.absent {
        if !comparison.isEvicting && due > claim.times.upperBound {
          note("lacks keys", place, expected[place], seen[place])
        }
      } else if expected[place] == Script.absent {
        note("shows what was removed", place, expected[place], seen[place])
      } else {
        let kind = seen[place] < expected[place] ? "shows old values" : "shows newer values"
        note(kind, place, expected[place], seen[place])
      }
    }
    lookAtRuns(seen, script)
  }

  /// The keys of a run have one number.
  private mutating func lookAtRuns(_ seen: [UInt64], _ script: Script) {
    let width = script.layout.width(.hot)
    guard width > 1 else { return }
    for start in stride(from: 0, to: script.layout.start(.single), by: width) {
      let numbers = Set(seen[start..<start + width].filter { $0 != Script.absent })
      if numbers.count > 1 {
        note("tears a batch", start, numbers.max() ?? 0, numbers.min() ?? 0)
      }
    }
  }

  /// A value's version is the number that its write got.
  private mutating func lookAt(_ version: UInt64, of number: UInt64, at place: Int) {
    let ledger = comparison.ledger
    guard version != Census.unknown else { return }
    if version > claim.sequences.upperBound {
      note("shows what is newer than itself", place, claim.sequences.upperBound, version)
    } else if number > 0, number <= ledger.done(thread) {
      let bounds = (ledger.sequence(of: number - 1, thread).number, ledger.sequence(of: number, thread).number)
      if version <= bounds.0 || version > bounds.1 { note("shows a wrong version", place, bounds.1, version) }
    }
  }

  private mutating func note(_ kind: String, _ place: Int, _ expected: UInt64, _ seen: UInt64) {
    count += 1
    var found = kinds[kind] ?? (0, [])
    found.count += 1
    if found.examples.count < 3 {
      let key = String(decoding: comparison.places.key(place, thread: thread), as: UTF8.self)
      found.examples.append("\(key): expected \(Self.text(expected)), seen \(Self.text(seen))")
    }
    kinds[kind] = found
  }

  private static func text(_ number: UInt64) -> String { number == Script.absent ? "nothing" : "\(number)" }

  /// One finding for each kind.
  func findings(_ possible: ClosedRange<UInt64>) -> [Finding] {
    kinds.sorted { $0.key < $1.key }.map { kind, found in
      let state = "compared with the state after write \(last) of thread \(thread) (\(possible) are possible)"
      let examples = found.examples.joined(separator: "; ")
      return Finding("\(claim.subject) \(kind)", "\(claim.words), \(state): \(found.count) differ: \(examples)")
    }
  }
}
