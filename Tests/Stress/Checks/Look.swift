import EskerLog
import EskerTestSupport

/// Looks at snapshots of one opening, in turn in all the ways in which they can be walked.
struct Look {
  let scene: Scene
  let store: LogStore
  /// For each thread, a write that was seen: what is seen later is not older.
  private(set) var floor: [UInt64]
  private var draw: SeededGenerator

  init(_ scene: Scene, _ store: LogStore, work: Int, floor: [UInt64]? = nil) {
    self.scene = scene
    self.store = store
    self.floor = floor ?? [UInt64](repeating: 0, count: scene.scripts.count)
    draw = SeededGenerator(seed: scene.seed(for: work))
  }

  /// One look, in a way that is drawn.
  mutating func next() {
    switch Int.random(in: 0..<12, using: &draw) {
    case 0...2: walk(pauses: 0)
    case 3, 4: walk(pauses: Int.random(in: 1...6, using: &draw), isRepeated: true)
    case 5: dump(pauses: 0)
    case 6: dump(pauses: Int.random(in: 1...6, using: &draw))
    case 7: Self.scan(store, scene)
    case 8, 9: Scans(scene: scene, store: store).next(&draw)
    case 10: walkInOrder()
    default: walkTwoThatOverlap()
    }
  }

  /// Walks a snapshot that is held.
  ///
  /// - Parameters:
  ///   - pauses: how often the walk rests while writes go on.
  ///   - isRepeated: Whether it is walked once more, which must show the same.
  ///   - sequence: the only number that the snapshot may have, if nobody writes.
  mutating func walk(pauses: Int, isRepeated: Bool = false, sequence: UInt64? = nil) {
    guard let (snapshot, claim) = take(sequence) else { return }
    guard let census = walk(snapshot, pauses, claim) else { return }
    var differing: [Finding] = []
    if isRepeated, let second = walk(snapshot, 0, claim), second != census {
      let counts = "\(census.count) entries and then \(second.count)"
      differing.append(Finding("two walks differ", "\(claim.words): \(counts)"))
    }
    judge(census, claim, snapshot.count, beside: differing)
    // Nobody writes until this has ended.
    if sequence != nil {
      Self.scan(store, scene, expected: census.keys(scene.places))
    }
  }

  private mutating func walkTwoThatOverlap() {
    guard let (first, firstClaim) = take(nil) else { return }
    scene.waitForPuts(Int.random(in: 1...500, using: &draw))
    try? store.refresh()
    guard let (second, secondClaim) = take(nil) else { return }
    guard let later = walk(second, 1, secondClaim), let earlier = walk(first, 1, firstClaim) else { return }
    judge(earlier, firstClaim, first.count)
    judge(later, secondClaim, second.count)
  }

  /// Walks a snapshot in the order of its keys, one range after the other.
  private mutating func walkInOrder() {
    guard let (snapshot, claim) = take(nil) else { return }
    var census = Census(scene.places)
    let order: KeyRange.Direction = draw.oneIn(2) ? .ascending : .descending
    let done: Void? = scene.expectNoError("snapshot throws", "ranges of \(claim.words)") {
      for name in try [""] + store.keyspaceNames {
        let space = try store.keyspace(name)
        for range in rangesOfAll() {
          var keys: [[UInt8]] = []
          for entry in snapshot.entries(in: space, range, order: order) {
            try census.add(entry, scene.places)
            keys.append(try entry.key())
          }
          Scans.checkOrder(keys, range, order, "\(range) of '\(name)' of a snapshot, \(order)", scene)
          if draw.oneIn(4) { rest() }
        }
      }
    }
    guard done != nil else { return }
    scene.ledger.add(.snapshots)
    judge(census, claim, snapshot.count)
  }

  /// Ranges that together have each key once.
  private mutating func rangesOfAll() -> [KeyRange] {
    if draw.oneIn(3) { return [.all] }
    if draw.oneIn(2) { return Band.allCases.map { .prefix([$0.letter]) } }
    let layout = scene.scripts[0].layout
    let key = scene.places.key(Int.random(in: 0..<layout.count, using: &draw), thread: 0)
    return [.upTo(key), .from(key)]
  }

  /// Walks a snapshot that only the loop holds, as a dump does.
  mutating func dump(pauses: Int) {
    let times = scene.time
    let before = store.lastSequence.rawValue
    var census = Census(scene.places)
    let step = max(1, store.statistics.keys / (pauses + 1))
    var claim = Claim(subject: "dump", sequences: before...before, times: times...times, floor: floor)
    let done: Void? = scene.expectNoError("dump throws", "for entry in store.snapshot()") {
      for entry in try store.snapshot() {
        if census.count == 0 {
          // The snapshot was made between the two looks.
          claim.sequences = before...max(before, store.lastSequence.rawValue)
          claim.times = times...scene.time
        }
        try census.add(entry, scene.places)
        if pauses > 0, census.count % step == 0 { rest() }
      }
      if census.count == 0 {
        claim.sequences = before...max(before, store.lastSequence.rawValue)
        claim.times = times...scene.time
      }
    }
    scene.ledger.add(.dumps)
    if done != nil { judge(census, claim) }
  }

  /// Lets writes go on, and a reader take them in.
  private mutating func rest() {
    scene.waitForPuts(1 << Int.random(in: 0...11, using: &draw))
    try? store.refresh()
  }

  private mutating func take(_ sequence: UInt64?) -> (Snapshot, Claim)? {
    let before = (time: scene.time, sequence: store.lastSequence.rawValue)
    guard let snapshot = scene.expectNoError("snapshot throws", "snapshot()", { try store.snapshot() }) else {
      return nil
    }
    let number = snapshot.sequence.rawValue
    if number < before.sequence || sequence.map({ $0 != number }) == true {
      let expected = sequence.map { "#\($0)" } ?? "at least #\(before.sequence)"
      scene.findings.report(Finding("snapshot is behind", "it shows up to #\(number), expected \(expected)"))
    }
    let claim = Claim(
      subject: "snapshot",
      sequences: number...number,
      times: before.time...scene.time,
      floor: floor
    )
    return (snapshot, claim)
  }

  private mutating func walk(_ snapshot: Snapshot, _ pauses: Int, _ claim: Claim) -> Census? {
    var census = Census(scene.places)
    let step = max(1, snapshot.count / (pauses + 1))
    let done: Void? = scene.expectNoError("snapshot throws", claim.words) {
      for entry in snapshot {
        try census.add(entry, scene.places)
        if pauses > 0, census.count % step == 0 { rest() }
      }
    }
    guard done != nil else { return nil }
    scene.ledger.add(.snapshots)
    return census
  }

  /// - Parameters:
  ///   - count: what a snapshot says of itself.
  ///   - others: what was found before.
  private mutating func judge(_ census: Census, _ claim: Claim, _ count: Int? = nil, beside others: [Finding] = []) {
    let (findings, last) = scene.comparison.judge(census, claim)
    scene.findings.write(findings + others + [count.flatMap { miscount($0, census, claim) }].compactMap { $0 })
    floor = zip(floor, last).map { max($0, $1) }
  }

  /// A snapshot counts what has expired and was not removed yet too.
  private func miscount(_ count: Int, _ census: Census, _ claim: Claim) -> Finding? {
    let expiring = scene.scripts.reduce(0) { $0 + $1.layout.count(.expiring) }
    guard !(census.count...census.count + expiring).contains(count) else { return nil }
    let shown = expiring == 0 ? "\(census.count)" : "\(census.count), and \(expiring) may have expired"
    return Finding("snapshot counts wrong", "\(claim.words): count \(count), shown \(shown)")
  }

  /// Reads the keys of each keyspace in order, while writes go on.
  ///
  /// - Parameter expected: The keys of each, if nobody writes.
  private static func scan(_ store: LogStore, _ scene: Scene, expected: [String: Set<[UInt8]>]? = nil) {
    _ = scene.expectNoError("scan throws", "keys in order") {
      for name in try [""] + store.keyspaceNames {
        guard let space = try? store.keyspace(name) else { continue }
        // What is in order is in order both ways, and a part of it is in the whole.
        let looks: [(KeyRange, KeyRange.Direction)] = [
          (.all, .ascending), (.all, .descending), (.prefix("h"), .ascending),
        ]
        for (range, order) in looks {
          let keys: [[UInt8]]
          do throws(StoreError) { keys = try space.keys(in: range, order: order) } catch {
            if case .keyspaceRemoved = error { continue }
            throw error
          }
          Scans.checkOrder(keys, range, order, "\(range) of '\(name)', \(order)", scene)
          guard let all = expected.map({ $0[name] ?? [] }) else { continue }
          let shown = all.filter { range.contains($0) }
          // A cache may have evicted since the snapshot.
          let evicts = scene.configuration.capacity != 0
          let differing = try Set(keys).symmetricDifference(shown).first { key in
            try !evicts || !shown.contains(key) || space.contains(key)
          }
          if let differing {
            let counts = "\(keys.count) keys in order, \(shown.count) in a snapshot"
            let text = "'\(name)', \(order): \(counts), for one \(differing)"
            scene.findings.report(Finding("keys in order differ", text))
          }
        }
      }
    }
  }

  /// What stands in the store now, when nobody writes: for each thread the last write that it shows.
  ///
  /// - Parameter known: for each thread, a write that must be there.
  static func state(of store: LogStore, _ scene: Scene, subject: String, floor known: [UInt64]) -> [UInt64] {
    var census = Census(scene.places)
    let time = scene.time
    let number = store.lastSequence.rawValue
    let claim = Claim(subject: subject, sequences: number...number, times: time...time, floor: known)
    let walked: Void? = scene.expectNoError("\(subject) throws", "a walk") {
      let snapshot = try store.snapshot()
      var keys: [String: Set<[UInt8]>] = [:]
      for entry in snapshot {
        try census.add(entry, scene.places)
        keys[entry.keyspace, default: []].insert(try entry.key())
      }
      scan(store, scene, expected: keys)
    }
    guard walked != nil else { return known }
    let (findings, last) = scene.comparison.judge(census, claim)
    scene.findings.write(findings)
    return last
  }
}
