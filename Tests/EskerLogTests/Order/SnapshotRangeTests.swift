import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// Ranges of snapshots, taken from the order that a keyspace has.
@Suite(.timeLimit(.minutes(60))) struct SnapshotRangeTests {
  private static func key(_ number: Int) -> [UInt8] { withUnsafeBytes(of: UInt32(number).bigEndian) { Array($0) } }
  private static func number(_ key: [UInt8]) -> Int { key.reduce(0) { $0 << 8 | Int($1) } }

  private static func expect(
    _ snapshot: Snapshot,
    _ space: Keyspace,
    _ expected: [Int: String],
    _ range: Range<Int>? = nil,
    isLive: Bool = true,
    _ comment: Comment? = nil
  ) throws {
    let chosen = range.map { KeyRange.from(key($0.lowerBound)).upTo(key($0.upperBound)) } ?? .all
    let numbers = expected.keys.filter { range?.contains($0) ?? true }.sorted()
    let found = try snapshot.entries(in: space, chosen).map { (number(try $0.key()), try $0.value()) }
    #expect(found.map(\.0) == numbers, comment)
    #expect(found.map(\.1) == numbers.map { bytes(expected[$0] ?? "") }, comment)
    let backwards = try snapshot.entries(in: space, chosen, order: .descending).map { number(try $0.key()) }
    #expect(backwards == numbers.reversed(), comment)
    #expect(snapshot.orders.withLock { $0[space.core.id]?.isLive } == isLive, comment)
  }

  @Test func anOrderThatIsThereNeedNotBeSorted() throws {
    let store = try Machine().open()
    let space = try store.keyspace("s")
    for number in 0..<1_000 { try space.put("\(number)", forKey: Self.key(number)) }
    let expected = Dictionary(uniqueKeysWithValues: (0..<1_000).map { ($0, "\($0)") })
    // Nobody has asked for it.
    try Self.expect(store.snapshot(), space, expected, isLive: false)
    #expect(try space.first()?.value == bytes("0"))
    try Self.expect(store.snapshot(), space, expected)
    try Self.expect(store.snapshot(), space, expected, 130..<770)
    try Self.expect(store.snapshot(), space, expected, 500..<500)
  }

  /// Each of them is done while a snapshot is open, some before it is read for the first time, some behind.
  @Test(arguments: [false, true]) func whatChangesMeanwhileIsNotSeen(isReadBefore: Bool) throws {
    let machine = Machine()
    let store = try machine.open()
    let space = try store.keyspace("s")
    #expect(try space.first() == nil)
    for number in 0..<2_000 {
      try space.put("\(number)", forKey: Self.key(number), expiry: number % 10 == 7 ? .after(.seconds(1)) : .never)
    }
    let expected = Dictionary(uniqueKeysWithValues: (0..<2_000).map { ($0, "\($0)") })
    let snapshot = try store.snapshot()
    if isReadBefore { try Self.expect(snapshot, space, expected) }
    for number in 0..<300 { try space.put("new", forKey: Self.key(number)) }
    for number in 300..<1_000 { try space.remove(Self.key(number)) }
    try Self.expect(snapshot, space, expected)
    for number in 600..<700 { try space.put("again", forKey: Self.key(number)) }
    for number in 2_000..<2_300 { try space.put("more", forKey: Self.key(number)) }
    try Self.expect(snapshot, space, expected, 250..<1_500)
    machine.clock.advance(milliseconds: 2_000)
    #expect(try space.removeExpired() > 0)
    try Self.expect(snapshot, space, expected)
    try store.probe.endTail()
    try store.merge()
    try Self.expect(snapshot, space, expected)
    store.probe.writeCheckpoint()
    try Self.expect(snapshot, space, expected, 1..<1_999)
    try space.removeAll()
    store.probe.sweep()
    try space.put("other", forKey: Self.key(3))
    // Now the keyspace's order is that of its next life.
    try Self.expect(snapshot, space, expected, isLive: true)
    try store.removeKeyspace("s")
    try Self.expect(snapshot, space, expected)
  }

  /// What a snapshot shows of an emptied keyspace is not in the order that the keyspace has by then.
  @Test func anotherLifesOrderIsNotTaken() throws {
    let store = try Machine().open()
    let space = try store.keyspace("s")
    #expect(try space.first() == nil)
    for number in 0..<300 { try space.put("\(number)", forKey: Self.key(number)) }
    let snapshot = try store.snapshot()
    try space.removeAll()
    #expect(try space.first() == nil)
    let expected = Dictionary(uniqueKeysWithValues: (0..<300).map { ($0, "\($0)") })
    try Self.expect(snapshot, space, expected, isLive: false)
  }

  /// The keyspace of the store as it was opened again has other keys.
  @Test func anotherStoresOrderIsNotTaken() throws {
    let machine = Machine()
    var store = try machine.open()
    var space = try store.keyspace("s")
    for number in 0..<300 { try space.put("\(number)", forKey: Self.key(number)) }
    let snapshot = try store.snapshot()
    try store.close()
    store = try machine.open()
    space = try store.keyspace("s")
    #expect(try space.first() != nil)
    for number in 0..<200 { try space.remove(Self.key(number)) }
    let expected = Dictionary(uniqueKeysWithValues: (0..<300).map { ($0, "\($0)") })
    try Self.expect(snapshot, space, expected, isLive: false)
  }

  /// A writer that appends in front of a scan does not keep it going.
  @Test func whatIsAppendedMeanwhileIsNotEvenRead() throws {
    let store = try Machine().open()
    let space = try store.keyspace("s")
    #expect(try space.first() == nil)
    for number in 0..<300 { try space.put("v", forKey: Self.key(number)) }
    let snapshot = try store.snapshot()
    var (seen, next) = (0, 300)
    for entry in snapshot.entries(in: space, .all) {
      #expect(Self.number(try entry.key()) == seen)
      seen += 1
      for _ in 0..<10 {
        try space.put("v", forKey: Self.key(next))
        next += 1
      }
    }
    #expect(seen == 300 && snapshot.orders.withLock { $0[space.core.id]?.isLive } == true)
    // All were removed before somebody looked.
    let other = try store.snapshot()
    try space.removeAll(in: .all)
    #expect(other.entries(in: space, .all).reduce(into: 0) { count, _ in count += 1 } == next)
  }

  /// A keyspace of another store may have the same number.
  @Test func aStrangersKeyspaceHasNothingHere() throws {
    let (store, other) = (try Machine().open(), try Machine().open())
    let space = try store.keyspace("s")
    for number in 0..<30 { try space.put("\(number)", forKey: Self.key(number)) }
    let strange = try other.keyspace("t")
    #expect(strange.core.id == space.core.id)
    let snapshot = try store.snapshot()
    #expect(Array(snapshot.entries(in: strange, .all)).isEmpty)
    let expected = Dictionary(uniqueKeysWithValues: (0..<30).map { ($0, "\($0)") })
    try Self.expect(snapshot, space, expected, isLive: false)
  }

  /// What cannot be in order is shown as damage by whoever reads everything.
  @Test func anOrderThatMayLackKeysIsNotTaken() throws {
    let store = try Machine().open()
    let space = try store.keyspace("s")
    for number in 0..<300 { try space.put("\(number)", forKey: Self.key(number)) }
    #expect(try space.first() != nil)
    try #require(space.core.order).noteGap(.closed)
    let expected = Dictionary(uniqueKeysWithValues: (0..<300).map { ($0, "\($0)") })
    try Self.expect(store.snapshot(), space, expected, isLive: false)
  }

  /// A page that ends with the last key of the order must not pass noted keys behind it, and the other way round.
  @Test func notedKeysLieBetweenTheOthers() throws {
    var random = SeededGenerator(announcedFor: "SnapshotRange")
    for round in 0..<Rounds.count(10, thorough: 200) {
      let store = try Machine().open()
      let space = try store.keyspace("s")
      #expect(try space.first() == nil)
      var expected: [Int: String] = [:]
      for _ in 0..<1_000 {
        let number = Int.random(in: 0..<3_000, using: &random)
        try space.put("\(number)", forKey: Self.key(number))
        expected[number] = "\(number)"
      }
      let snapshot = try store.snapshot()
      for _ in 0..<4 {
        // A stretch loses its keys, or gets others between them.
        let start = Int.random(in: 0..<3_000, using: &random)
        let length = Int.random(in: 1...800, using: &random)
        for number in start..<start + length {
          if random.oneIn(4) {
            try space.put("new", forKey: Self.key(number))
          } else {
            try space.remove(Self.key(number))
          }
        }
        try Self.expect(snapshot, space, expected, nil, comment(round))
        let low = Int.random(in: 0..<3_000, using: &random)
        try Self.expect(snapshot, space, expected, low..<low + 700, comment(round))
      }
    }
  }

  private func comment(_ round: Int) -> Comment { "round \(round)" }

  /// Where a record cannot be read, all others are shown, and the damage at the end.
  @Test(arguments: [false, true]) func damageEndsARangeAndHidesNothing(isNoted: Bool) throws {
    let machine = Machine()
    var store = try machine.open()
    var space = try store.keyspace("s")
    for number in 0..<500 { try space.put("value \(number)", forKey: Self.key(number)) }
    #expect(try space.first() != nil)
    store.probe.writeCheckpoint()
    try store.close()
    store = try machine.open()
    space = try store.keyspace("s")
    let snapshot = try store.snapshot()
    #expect(snapshot.liveOrder(of: space.core) != nil)
    if isNoted { try space.remove(Self.key(200)) }
    let name = try #require(machine.files(".segment").first)
    let file = try machine.disk.open(name, .readWrite)
    let contents = try file.bytes(in: 0..<Int(try file.status().size))
    let place = try #require(
      contents.indices.first { contents[$0...].starts(with: Self.key(200) + bytes("value 200")) }
    )
    try file.writeAll([contents[place - 20] ^ 1], at: place - 20)
    file.close()
    var found: [Int] = []
    var errors = 0
    for entry in snapshot.entries(in: space, .from(Self.key(100)).upTo(Self.key(400))) {
      do { found.append(Self.number(try entry.key())) } catch { errors += 1 }
    }
    #expect(found == (100..<400).filter { $0 != 200 } && errors == 1)
  }

  @Test func aReadersSnapshotHasTheOrderOfACheckpoint() throws {
    let machine = Machine()
    let store = try machine.open()
    let space = try store.keyspace("s")
    for number in 0..<1_000 { try space.put("\(number)", forKey: Self.key(number)) }
    #expect(try space.first() != nil)
    store.probe.writeCheckpoint()
    let reader = try machine.open { $0.readOnly = true }
    let mine = try reader.keyspace("s")
    let expected = Dictionary(uniqueKeysWithValues: (0..<1_000).map { ($0, "\($0)") })
    let snapshot = try reader.snapshot()
    try Self.expect(snapshot, mine, expected, 990..<1_100)
    for number in 0..<500 { try space.remove(Self.key(number)) }
    for number in 500..<600 { try space.put("new", forKey: Self.key(number)) }
    try reader.refresh()
    try Self.expect(snapshot, mine, expected)
    try store.probe.endTail()
    try store.merge()
    try reader.refresh()
    try Self.expect(snapshot, mine, expected)
    #expect(try reader.snapshot().entries(in: mine, .all).reduce(into: 0) { count, _ in count += 1 } == 500)
    try reader.close()
  }

  @Test func aSnapshotIsTheSameWhateverWritersDo() throws {
    for _ in 0..<Rounds.count(3, thorough: 60) {
      let directory = try TemporaryDirectory()
      var options = Options()
      options.segmentSize = 256 << 10
      let store = try LogStore(at: directory.appending("store"), options: options)
      for number in 0..<3_000 { try store.put("\(number)", forKey: Self.key(number)) }
      #expect(try store.first() != nil)
      let expected = Dictionary(uniqueKeysWithValues: (0..<3_000).map { ($0, "\($0)") })
      let snapshot = try store.snapshot()
      let isOver = SharedFlag()
      let errors = try onThreads(4) { thread in
        var random = SeededGenerator(seed: UInt64(thread) + 1)
        switch thread {
        case 0:
          while !isOver.isRaised {
            let number = Int.random(in: 0..<4_000, using: &random)
            if random.oneIn(2) {
              try store.put("w", forKey: Self.key(number))
            } else {
              try store.remove(Self.key(number))
            }
          }
        case 1:
          while !isOver.isRaised { try store.merge() }
        default:
          defer { isOver.raise() }
          for _ in 0..<20 {
            let low = Int.random(in: 0..<3_000, using: &random)
            try Self.expect(snapshot, store.default, expected, low..<low + 500)
          }
        }
      }
      #expect(errors.isEmpty, "\(errors)")
    }
  }
}
