import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// A count is what iterating would show, and looks at entries only if one of them may have expired.
@Suite struct CountTests {
  private var machine = Machine()

  /// Counts a keyspace, and expects that this looks at the entries, or that it does not.
  private func expectCount(
    _ expected: Int,
    of keyspace: Keyspace,
    looking: Bool,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let before = keyspace.core.expiry.beginWalk()
    #expect(try keyspace.count() == expected, sourceLocation: sourceLocation)
    #expect((keyspace.core.expiry.beginWalk() > before + 1) == looking, sourceLocation: sourceLocation)
  }

  /// Counts a keyspace in both ways.
  private func expectCount(_ expected: Int, of keyspace: Keyspace, _ comment: Comment? = nil) throws {
    #expect(try keyspace.count() == expected, comment)
    #expect(try keyspace.store.contents(of: keyspace).count == expected, comment)
  }

  @Test func anExpiredEntryIsNotCountedWhetherItIsRemovedOrNot() throws {
    let store = try machine.open()
    let other = try store.keyspace("other")
    for number in 0..<10 {
      try store.put("v", forKey: "stays \(number)")
      try store.put("v", forKey: "goes \(number)", expiry: .after(.seconds(number < 4 ? 1 : 2)))
      try other.put("v", forKey: "goes \(number)", expiry: .after(.seconds(1)))
    }
    try expectCount(20, of: store.default)
    machine.clock.advance(milliseconds: 1_000)
    try expectCount(16, of: store.default)
    try expectCount(0, of: other)
    #expect(try store.totalCount() == 16)
    #expect(store.statistics.keys == 30)
    machine.clock.advance(milliseconds: 1_000)
    try expectCount(10, of: store.default)
    #expect(try store.removeExpired() == 10)
    try expectCount(10, of: store.default)
    #expect(try store.totalCount() == 10)
  }

  @Test func howeverAValueIsWrittenItsExpiryIsKnown() throws {
    let soon = Expiry.after(.seconds(1))
    let ways: [(String, (LogStore) throws -> Void)] = [
      ("put", { try $0.put("v", forKey: "k", expiry: soon) }),
      ("batch", { try $0.write { (batch) throws(StoreError) in try batch.put("v", forKey: "k", expiry: soon) } }),
      ("update", { try $0.update(forKey: "k") { (_) throws(StoreError) in .put([1], expiry: soon) } }),
      ("compareAndSet", { try $0.compareAndSet("v", forKey: "k", ifVersion: nil, expiry: soon) }),
      ("putIfAbsent", { try $0.putIfAbsent("v", forKey: "k", expiry: soon) }),
      (
        "touch",
        {
          try $0.put("v", forKey: "k")
          try $0.touch("k", expiry: soon)
        }
      ),
      (
        "default expiry",
        {
          try $0.default.setDefaultExpiry(.seconds(1))
          try $0.put("v", forKey: "k")
        }
      ),
    ]
    for (name, write) in ways {
      var machine = Machine()
      let store = try machine.open()
      try store.put("v", forKey: "other")
      try write(store)
      #expect(try store.count() == 2, "\(name)")
      machine.clock.advance(milliseconds: 1_000)
      #expect(try store.count() == 1, "\(name)")
      #expect(try machine.reopenAfterKill().count() == 1, "\(name)")
    }
  }

  @Test func aKeyspaceWithoutExpiringValuesIsCountedWithoutALook() throws {
    let store = try machine.open()
    let other = try store.keyspace("other")
    for number in 0..<100 {
      try store.put("v", forKey: "\(number)")
      try other.put("v", forKey: "\(number)", expiry: .after(.seconds(1)))
    }
    try expectCount(100, of: other, looking: false)
    machine.clock.advance(milliseconds: 1_000)
    try expectCount(100, of: store.default, looking: false)
    #expect(try store.removeExpired() == 0 && store.countExpired() == 0)
    try expectCount(0, of: other, looking: true)
    try expectCount(0, of: other, looking: true)
    try other.removeExpired()
    try expectCount(0, of: other, looking: true)
    try expectCount(0, of: other, looking: false)
  }

  @Test func livesThatAreExtendedCostOneLook() throws {
    let store = try machine.open()
    for number in 0..<50 { try store.put("v", forKey: "\(number)", expiry: .after(.seconds(10))) }
    for round in 0..<3 {
      // Two seconds before they would expire.
      machine.clock.advance(milliseconds: round == 0 ? 8_000 : 6_000)
      for number in 0..<50 { try store.touch("\(number)", expiry: .after(.seconds(10))) }
      machine.clock.advance(milliseconds: 2_000)
      try expectCount(50, of: store.default, looking: true)
      try expectCount(50, of: store.default, looking: false)
    }
    machine.clock.advance(milliseconds: 8_000)
    try expectCount(0, of: store.default, looking: true)
  }

  @Test func whatIsWrittenDuringALookIsNotForgotten() throws {
    let store = try machine.open()
    try store.put("v", forKey: "k", expiry: .after(.seconds(1)))
    try store.remove("k")
    machine.clock.advance(milliseconds: 1_000)
    let bound = store.core.expiry
    let walk = bound.beginWalk()
    try store.put("v", forKey: "k", expiry: .after(.seconds(1)))
    bound.endWalk(walk, earliest: .max)
    #expect(bound.earliest == machine.clock.wallMilliseconds() + 1_000)
    machine.clock.advance(milliseconds: 1_000)
    #expect(try store.count() == 0)
    // Nor by a look that is overtaken by another.
    let (first, second) = (bound.beginWalk(), bound.beginWalk())
    bound.endWalk(first, earliest: .max)
    #expect(bound.earliest < machine.clock.wallMilliseconds() + 1_000)
    bound.endWalk(second, earliest: .max)
    #expect(bound.earliest == .max)
  }

  @Test func anEmptiedKeyspaceBeginsAnew() throws {
    let store = try machine.open()
    try store.put("v", forKey: "k", expiry: .after(.seconds(1)))
    try store.removeAll()
    try store.put("v", forKey: "other")
    machine.clock.advance(milliseconds: 1_000)
    try expectCount(1, of: store.default, looking: false)
  }

  @Test(arguments: ["checkpoint", "no checkpoint", "kill", "kill without a checkpoint", "reader"])
  func everyOpeningKnowsWhatMayHaveExpired(_ way: String) throws {
    var machine = machine
    let writer = try machine.open()
    let (brief, long) = (try writer.keyspace("brief"), try writer.keyspace("long"))
    for number in 0..<200 {
      try writer.put([UInt8](repeating: 1, count: 900), forKey: "\(number)")
      try brief.put([UInt8](repeating: 1, count: 100), forKey: "\(number)", expiry: .after(.seconds(1)))
      try long.put([UInt8](repeating: 1, count: 100), forKey: "\(number)", expiry: .after(.seconds(1_000)))
    }
    try writer.merge()
    for number in 0..<20 { try brief.put("again", forKey: "\(number)", expiry: .after(.seconds(2))) }
    if way.hasPrefix("kill") { writer.probe.writeCheckpoint() }
    for number in 20..<30 { try brief.put("again", forKey: "\(number)", expiry: .after(.seconds(2))) }
    let store: LogStore
    switch way {
    case "reader": store = try machine.open { $0.readOnly = true }
    case "kill": store = try machine.reopenAfterKill()
    case "kill without a checkpoint":
      machine.disk = try machine.disk.processKilled()
      try machine.deleteCheckpoint()
      store = try machine.open()
    default:
      try writer.close()
      if way == "no checkpoint" { try machine.deleteCheckpoint() }
      store = try machine.open()
    }
    try expectCount(200, of: store.default, looking: false)
    let (opened, later) = (try store.keyspace("brief"), try store.keyspace("long"))
    try expectCount(200, of: opened)
    machine.clock.advance(milliseconds: 1_000)
    try expectCount(30, of: opened)
    try expectCount(200, of: later)
    try expectCount(200, of: later, looking: false)
    machine.clock.advance(milliseconds: 1_000)
    try expectCount(0, of: opened)
    try expectCount(200, of: store.default, looking: false)
    #expect(try store.totalCount() == 400)
  }

  @Test func aReaderCountsWhatItsWriterHasWrittenSince() throws {
    let writer = try machine.open()
    try writer.put("v", forKey: "first")
    let reader = try machine.open { $0.readOnly = true }
    #expect(try reader.count() == 1)
    try writer.put("v", forKey: "second", expiry: .after(.seconds(1)))
    try reader.refresh()
    #expect(try reader.count() == 2)
    machine.clock.advance(milliseconds: 1_000)
    #expect(try reader.count() == 1)
  }

  /// A walk gives the writer's lock back in between; an entry that a split moved meanwhile must not be counted twice.
  @Test(.timeLimit(.minutes(60))) func aCountBesideAGrowingIndexIsExactAboutWhatStays() throws {
    var machine = machine
    machine.background = .threads
    let store = try machine.open { $0.segmentSize = 64 << 20 }
    let other = try store.keyspace("other")
    for number in 0..<5_000 {
      try store.put("v", forKey: "stays \(number)")
      for part in 0..<5 { try store.put("v", forKey: "gone \(number) \(part)", expiry: .after(.milliseconds(1))) }
    }
    machine.clock.advance(milliseconds: 1_000)
    let isDone = SharedFlag()
    let errors = try onThreads(2) { thread in
      if thread == 0 {
        defer { isDone.raise() }
        // Another keyspace grows the same index.
        for number in 0..<100_000 { try other.put("v", forKey: "\(number)") }
      } else {
        while !isDone.isRaised {
          let count = try store.count()
          guard count == 5_000 else { throw Miscounted(count: count) }
        }
      }
    }
    #expect(errors.isEmpty, "\(errors)")
    #expect(try store.countExpired() == 25_000)
    // Once nobody walks any more, the splits are made up for.
    #expect(try other.count() == 100_000)
    for number in 0..<100_000 { try other.put("v", forKey: "more \(number)") }
    #expect(store.probe.bucketCount > 200_000 / 7)
  }

  /// The writer's lock is not fair: a writer may wait for it as long as a walk takes it again at once.
  @Test func aWalkLetsWritersInBetween() throws {
    let store = try machine.open()
    let small = try store.keyspace("small")
    for number in 0..<20_000 { try store.put("v", forKey: "\(number)", expiry: .after(.milliseconds(1))) }
    for number in 0..<300 { try small.put("v", forKey: "\(number)", expiry: .after(.milliseconds(1))) }
    machine.clock.advance(milliseconds: 1_000)
    let walk = store.probe.bucketCount / 64
    func pauses(in walk: () throws -> Int, returning result: Int) throws -> Int {
      let before = store.probe.pauses
      #expect(try walk() == result)
      return store.probe.pauses - before
    }
    #expect(walk > 20)
    #expect(try pauses(in: { try store.count() }, returning: 0) >= walk)
    // Its keys are known by name: 128 at a time.
    #expect(try pauses(in: { try small.countExpired() }, returning: 300) == 2)
    #expect(try pauses(in: { try store.removeExpired() }, returning: 20_000) >= 2 * walk)
    try store.removeAll()
    let before = store.probe.pauses
    store.probe.sweep()
    #expect(store.probe.pauses - before >= walk)
  }

  /// Whoever takes expired entries out of the index meanwhile must not make a count lack entries that stay.
  @Test(.timeLimit(.minutes(60))) func aCountBesideRemovalsOfWhatExpiredHasAllThatStays() throws {
    var machine = machine
    machine.background = .threads
    let store = try machine.open { $0.segmentSize = 64 << 20 }
    let other = try store.keyspace("other")
    for number in 0..<2_000 { try store.put("v", forKey: "stays \(number)") }
    let clock = machine.clock
    let isDone = SharedFlag()
    let errors = try onThreads(2) { thread in
      if thread == 0 {
        defer { isDone.raise() }
        for round in 0..<60 {
          for number in 0..<1_000 {
            try store.put("v", forKey: "goes \(number)", expiry: .after(.milliseconds(1)))
            try other.put("v", forKey: "goes \(number)", expiry: .after(.milliseconds(1)))
          }
          clock.advance(milliseconds: 1_000)
          if round % 2 == 0 { try other.removeAll() }
          try store.removeExpired()
        }
      } else {
        while !isDone.isRaised {
          for count in [try store.count(), try store.totalCount()] where count < 2_000 {
            throw Miscounted(count: count)
          }
        }
      }
    }
    #expect(errors.isEmpty, "\(errors)")
    #expect(try store.count() == 2_000)
    #expect(try store.totalCount() == 2_000)
  }

  private struct Miscounted: Error {
    var count: Int
  }
}
