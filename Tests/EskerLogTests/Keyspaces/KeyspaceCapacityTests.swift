import EskerFormat
import EskerPlatform
import EskerTestSupport
import EskerTools
import Synchronization
import Testing

@testable import EskerLog

/// Keyspaces that are caches, in stores that are not.
@Suite(.timeLimit(.minutes(60))) struct KeyspaceCapacityTests {
  private static func key(_ number: Int) -> String { "key \(number)" }

  /// Bytes of the records of some values, under keys of three digits.
  private static func size(of lengths: [Int], in keyspace: Keyspace) -> Int {
    lengths.reduce(0) {
      $0 + RecordLayout.size(keyLength: 7, valueLength: $1, expiry: .max, keyspace: keyspace.core.tag)
    }
  }

  private func keys(_ keyspace: Keyspace) throws -> Set<Int> {
    Set(
      try keyspace.store.contents(of: keyspace).keys.compactMap {
        Int(String(decoding: $0.dropFirst(4), as: UTF8.self))
      }
    )
  }

  private func checkCounts(_ keyspace: Keyspace, _ limit: Keyspace.Capacity) throws {
    let figures = try #require(keyspace.store.statistics.keyspaces[keyspace.name])
    let counted = try keyspace.store.snapshot().filter { $0.keyspace == keyspace.name }
    #expect(figures.keys == counted.count)
    let bytes = try counted.reduce(0) {
      $0
        + RecordLayout.size(
          keyLength: try $1.key().count,
          valueLength: try $1.value().count,
          expiry: .max,
          keyspace: keyspace.core.tag
        )
    }
    #expect(figures.liveBytes == bytes)
    #expect(figures.liveBytes <= limit.bytes ?? .max && figures.keys <= limit.entries ?? .max)
  }

  // MARK: What goes

  @Test func theOldestGoUnlessTheyWereRead() throws {
    let store = try Machine().open()
    let cache = try store.keyspace("cache", capacity: .entries(100))
    for number in 0..<100 { try cache.put("v", forKey: Self.key(number)) }
    #expect(try cache.count() == 100)
    for number in 0..<10 { #expect(try cache.get(Self.key(number)) != nil) }
    // Written anew, so in use.
    for number in 10..<20 { try cache.put("w", forKey: Self.key(number)) }
    for number in 100..<150 { try cache.put("v", forKey: Self.key(number)) }
    let left = try keys(cache)
    #expect(left.isSuperset(of: 0..<20) && left.isDisjoint(with: 20..<65) && left.isSuperset(of: 100..<150))
    try checkCounts(cache, .entries(100))
    // Each time it is spared only once.
    for number in 150..<400 { try cache.put("v", forKey: Self.key(number)) }
    #expect(try keys(cache).isDisjoint(with: 0..<100))
  }

  @Test(arguments: [true, false]) func everyKindOfReadCounts(_ isBeforeOpening: Bool) throws {
    let machine = Machine()
    var store = try machine.open()
    var cache = try store.keyspace("cache", capacity: .entries(60))
    for number in 0..<60 {
      try cache.put([UInt8](repeating: 1, count: number < 30 ? 10 : 5000), forKey: Self.key(number))
    }
    if isBeforeOpening {
      try store.close()
      store = try machine.open()
      cache = try store.keyspace("cache")
    }
    for start in [0, 30] {
      _ = try cache.get(Self.key(start))
      _ = try cache.contains(Self.key(start + 1))
      _ = try cache.metadata(forKey: Self.key(start + 2))
      try cache.withValue(forKey: Self.key(start + 3)) { (_: RawSpan) in }
      try cache.withValues(forKeys: [Self.key(start + 4), Self.key(start + 5)]) { _, _ in }
    }
    for number in 60..<90 { try cache.put("v", forKey: Self.key(number)) }
    let left = try keys(cache)
    #expect(left.isSuperset(of: Array(0...5) + Array(30...35)), "\(left.sorted())")
    #expect(left.isDisjoint(with: Array(6...25)), "\(left.sorted())")
    try store.close()
  }

  @Test func bytesAreLimitedToo() throws {
    let store = try Machine().open()
    let cache = try store.keyspace("cache", capacity: .bytes(64 << 10))
    var added = 0
    for round in 0..<3 {
      for number in 0..<300 {
        if try !cache.contains(Self.key(100 + number)) { added += 1 }
        try cache.put([UInt8](repeating: UInt8(round), count: number * 7 % 2000), forKey: Self.key(100 + number))
        #expect(store.statistics.keyspaces["cache"]!.liveBytes <= 64 << 10)
      }
      try checkCounts(cache, .bytes(64 << 10))
      #expect(store.statistics.keyspaces["cache"]!.liveBytes > 56 << 10)
    }
    let evicted = try #require(store.statistics.keyspaces["cache"])
    #expect(evicted.evicted == (try added - cache.count()))
    #expect(evicted.evicted > 700 && store.statistics.merged.recordsEvicted == evicted.evicted)
    #expect(store.statistics.merged.bytesEvicted == evicted.evictedBytes && evicted.evictedBytes > 700 * 48)
  }

  @Test func whatCanNeverFitIsRefusedAndChangesNothing() throws {
    let store = try Machine().open()
    let cache = try store.keyspace("cache", capacity: Keyspace.Capacity(bytes: 4096, entries: 10))
    for number in 0..<5 { try cache.put("v", forKey: Self.key(number)) }
    let before = store.lastSequence
    // Of records with a key of seven bytes: 40 bytes more, rounded up to eight.
    let most = 4096 - 47
    #expect(throws: StoreError.keyspaceFull(keyspace: "cache", bytes: 4104, entries: 1)) {
      try cache.put([UInt8](repeating: 1, count: most + 2), forKey: "key 100")
    }
    #expect(throws: StoreError.self) {
      try store.write { (batch) throws(StoreError) in
        for number in 0..<11 { try batch.put("v", forKey: "key 20\(number)", in: cache) }
      }
    }
    #expect(try store.lastSequence == before && keys(cache) == Set(0..<5))
    // Alone they fit.
    try cache.put([UInt8](repeating: 1, count: most), forKey: "key 100")
    #expect(try keys(cache) == [100])
    try store.write { (batch) throws(StoreError) in
      for number in 0..<12 { try batch.put("v", forKey: "key 20\(number % 10)", in: cache) }
    }
    #expect(try keys(cache) == Set(200..<210))
    try checkCounts(cache, Keyspace.Capacity(bytes: 4096, entries: 10))
  }

  /// Of several writes of a key in a batch, the last one counts.
  @Test func aBatchCountsAsItEnds() throws {
    let store = try Machine().open()
    let cache = try store.keyspace("cache", capacity: .entries(1))
    try cache.put("v", forKey: "key 1")
    try store.write { (batch) throws(StoreError) in
      try batch.put("v", forKey: "key 2", in: cache)
      try batch.remove("key 2", in: cache)
      try batch.remove("key 1", in: cache)
      try batch.put("v", forKey: "key 3", in: cache)
    }
    #expect(try keys(cache) == [3])
  }

  /// Nor does an overwrite, or a batch of them, that would not fit into an empty keyspace.
  @Test func anOverwriteThatCanNeverFitChangesNothing() throws {
    let store = try Machine().open()
    let cache = try store.keyspace("cache", capacity: .bytes(4096))
    try cache.put([UInt8](repeating: 1, count: 3000), forKey: "key 1")
    try cache.put([UInt8](repeating: 2, count: 900), forKey: "key 2")
    let before = (store.lastSequence, try store.contents(of: cache))
    #expect(throws: StoreError.self) { try cache.put([UInt8](repeating: 3, count: 4200), forKey: "key 1") }
    #expect(throws: StoreError.self) { try cache.append([UInt8](repeating: 3, count: 1200), toKey: "key 1") }
    #expect(throws: StoreError.self) {
      try store.write { (batch) throws(StoreError) in
        try batch.put([UInt8](repeating: 3, count: 3500), forKey: "key 1", in: cache)
        try batch.put([UInt8](repeating: 3, count: 700), forKey: "key 2", in: cache)
      }
    }
    #expect(try store.lastSequence == before.0 && store.contents(of: cache) == before.1)
  }

  @Test func aWriteWhoseConditionFailsEvictsNothing() throws {
    let store = try Machine().open()
    let cache = try store.keyspace("cache", capacity: .bytes(4096))
    for number in 0..<4 { try cache.put([UInt8](repeating: 1, count: 900), forKey: Self.key(number)) }
    let before = store.lastSequence
    #expect(try cache.putIfAbsent([UInt8](repeating: 1, count: 2000), forKey: Self.key(0)) == nil)
    #expect(try cache.putIfAbsent([UInt8](repeating: 1, count: 9000), forKey: Self.key(0)) == nil)
    #expect(try store.lastSequence == before && cache.count() == 4)
  }

  @Test func whatARangeReadsIsNotSpared() throws {
    let store = try Machine().open()
    let cache = try store.keyspace("cache", capacity: .entries(50))
    for number in 100..<150 { try cache.put("v", forKey: Self.key(number)) }
    for number in 100..<105 { _ = try cache.get(Self.key(number)) }
    #expect(try cache.keys().count == 50 && cache.entries().count == 50)
    for number in 150..<180 { try cache.put("v", forKey: Self.key(number)) }
    #expect(try keys(cache) == Set(100..<105).union(135..<180))
  }

  /// More marks are needed where more is kept.
  @Test func aRaisedCapacityStillTellsWhatWasRead() throws {
    let store = try Machine().open()
    let cache = try store.keyspace("cache", capacity: .entries(10))
    try cache.setCapacity(.entries(20_000))
    for number in 0..<20_000 { try cache.put("v", forKey: Self.key(number)) }
    for number in 0..<10_000 { _ = try cache.get(Self.key(number)) }
    for number in 20_000..<29_000 { try cache.put("v", forKey: Self.key(number)) }
    let left = try keys(cache)
    // Several keys may share a mark.
    #expect(left.intersection(0..<10_000).count > 8_500)
    #expect(left.intersection(10_000..<19_000).count < 3_000)
  }

  /// Nothing is gathered for a capacity that is large enough.
  @Test func aCapacityThatIsLargeEnoughReadsNothing() throws {
    let store = try Machine().open()
    let cache = try store.keyspace("cache")
    for number in 0..<2000 { try cache.put("v", forKey: Self.key(number)) }
    try cache.setCapacity(.entries(3000))
    #expect(try #require(cache.core.keyClock).isGathered == false)
    for number in 2000..<3000 { try cache.put("v", forKey: Self.key(number)) }
    #expect(try #require(cache.core.keyClock).isGathered == false)
    try cache.put("v", forKey: Self.key(3000))
    #expect(try keys(cache).isDisjoint(with: 0..<1) && cache.count() <= 3000)
  }

  // MARK: Damage

  /// What cannot be read is evicted by its key, or not at all. A write ends in either case.
  @Test(arguments: [8, 25, 35, 44, 60], [1, 2]) func damageEndsNoWrite(_ offset: Int, _ entries: Int) throws {
    let machine = Machine()
    let store = try machine.open()
    let cache = try store.keyspace("cache", capacity: Keyspace.Capacity(bytes: 8192, entries: entries))
    try cache.put([UInt8](repeating: 1, count: 2000), forKey: "a")
    let tail = try #require(store.probe.tail)
    let record = try #require(tail.offset(of: bytes("a") + [UInt8](repeating: 1, count: 2000))) - 40
    tail.store(0xA5, at: record + offset)
    for number in 0..<20 {
      let isWritten = try fits { try cache.put([UInt8](repeating: 2, count: 3000), forKey: Self.key(number)) }
      // The damaged one may have to stay.
      #expect(isWritten || entries == 1)
    }
    #expect(try cache.count() <= entries)
    // Written again, its key is as good as any.
    _ = try fits { try cache.put([UInt8](repeating: 3, count: 7000), forKey: "a") }
    for number in 0..<20 {
      _ = try fits { try cache.put([UInt8](repeating: 2, count: 3000), forKey: Self.key(number)) }
    }
    #expect(try cache.count() <= entries)
    store.probe.kill()
  }

  @Test func aCapacityIsKeptAndCanChange() throws {
    let machine = Machine()
    var store = try machine.open()
    var cache = try store.keyspace("cache")
    #expect(cache.capacity == .unlimited)
    for number in 0..<50 { try cache.put("v", forKey: Self.key(number)) }
    try cache.setCapacity(.entries(20))
    #expect(try keys(cache) == Set(30..<50))
    try store.close()
    store = try machine.open()
    cache = try store.keyspace("cache")
    #expect(cache.capacity == .entries(20))
    try cache.put("v", forKey: Self.key(50))
    #expect(try keys(cache) == Set(31...50))
    // Asked for again, nothing changes.
    let generation = try ManifestFiles(directory: machine.path, fileSystem: machine.disk).read().newest?.generation
    cache = try store.keyspace("cache", capacity: .entries(20))
    #expect(
      try ManifestFiles(directory: machine.path, fileSystem: machine.disk).read().newest?.generation == generation
    )
    cache = try store.keyspace("cache", capacity: Keyspace.Capacity(bytes: 1024, entries: 30))
    #expect(try keys(cache).count == 20)
    try cache.setCapacity(.unlimited)
    for number in 100..<200 { try cache.put("v", forKey: Self.key(number)) }
    #expect(try cache.count() == 120)
    try store.close()
    store = try machine.open()
    #expect(try store.keyspace("cache").capacity == .unlimited)
    try store.close()
    let reader = try machine.open { $0.readOnly = true }
    #expect(throws: StoreError.readOnly) { try reader.keyspace("cache").setCapacity(.entries(1)) }
    #expect(try reader.keyspace("cache", capacity: .entries(1)).count() == 120)
    try reader.close()
  }

  /// A capacity that nothing can be counted for is that of an emptied keyspace, too.
  @Test func anEmptiedOrRemovedKeyspaceBeginsAnew() throws {
    let store = try Machine().open()
    let cache = try store.keyspace("cache", capacity: .entries(10))
    for round in 0..<3 {
      for number in 0..<25 { try cache.put("v", forKey: Self.key(number)) }
      #expect(try keys(cache) == Set(15..<25), "\(round)")
      try cache.removeAll()
      #expect(store.statistics.keyspaces["cache"]?.liveBytes == 0)
      #expect(cache.core.keyClock?.count == 0)
    }
    try store.removeKeyspace("cache")
    #expect(throws: StoreError.keyspaceRemoved("cache")) { try cache.put("v", forKey: "k") }
    #expect(try store.keyspace("cache").capacity == .unlimited)
  }

  /// Keys that come and go leave nothing behind that grows, and are not taken for older ones.
  @Test func keysThatComeAndGo() throws {
    let store = try Machine().open()
    let cache = try store.keyspace("cache", capacity: .entries(100))
    for number in 0..<99 { try cache.put("v", forKey: Self.key(number)) }
    for _ in 0..<70_000 {
      try cache.put("v", forKey: "passing")
      try cache.remove("passing")
    }
    #expect(try #require(cache.core.keyClock).count < 70_000)
    for number in 100..<120 { try cache.put("v", forKey: Self.key(number)) }
    let left = try keys(cache)
    #expect(left.isSuperset(of: Array(40..<99) + Array(100..<120)) && left.isDisjoint(with: 0..<18))
    try checkCounts(cache, .entries(100))
  }

  // MARK: Who hears of it

  @Test func listenersHearOfEvictions() throws {
    let store = try Machine().open()
    let cache = try store.keyspace("cache", capacity: .entries(5))
    let mirror = Mirror()
    try cache.addListener(mirror)
    for number in 0..<20 { try cache.put("\(number)", forKey: Self.key(number)) }
    #expect(mirror.faults.isEmpty && mirror.counts.evictions == 15 && mirror.counts.puts == 20)
    #expect(try mirror.contents == store.contents(of: cache))
  }

  @Test func eventsCountWhatWent() throws {
    let log = EventLog()
    let store = try Machine().open { $0.onEvent = { log.record($0) } }
    let cache = try store.keyspace("cache", capacity: .entries(5))
    for number in 0..<20 { try cache.put("\(number)", forKey: Self.key(number)) }
    let evicted = log.events.reduce(0) { if case .evicted(let records, _) = $1 { $0 + records } else { $0 } }
    #expect(evicted == 15)
  }

  @Test func readersSnapshotsAndOrdersFollow() throws {
    let machine = Machine()
    let store = try machine.open()
    let cache = try store.keyspace("cache", capacity: .entries(50))
    for number in 100..<150 { try cache.put("v", forKey: Self.key(number)) }
    #expect(try cache.first()?.key == bytes("key 100"))
    let snapshot = try store.snapshot()
    let reader = try machine.open { $0.readOnly = true }
    let seen = try reader.keyspace("cache")
    #expect(seen.capacity == .entries(50))
    #expect(try seen.first()?.key == bytes("key 100"))
    for number in 150..<230 { try cache.put("v", forKey: Self.key(number)) }
    try cache.setCapacity(.entries(40))
    try reader.refresh()
    let left = try keys(cache).sorted()
    #expect(left == Array(190..<230))
    for space in [cache, seen] {
      #expect(try space.keys().map { String(decoding: $0, as: UTF8.self) } == left.map(Self.key))
      #expect(try space.store.contents(of: space) == store.contents(of: cache))
    }
    #expect(seen.capacity == .entries(40))
    #expect(try snapshot.contents(of: "cache").count == 50)
    #expect(Array(snapshot.entries(in: cache, .all)).count == 50)
    try reader.close()
    try store.close()
  }

  /// A salvage evicts nothing.
  @Test func aSalvageKeepsTheCapacityAndAllThatIsThere() throws {
    let machine = Machine()
    let store = try machine.open()
    let cache = try store.keyspace("cache")
    for number in 0..<10 { try cache.put("v", forKey: Self.key(number)) }
    try cache.record(.entries(3))
    #expect(try cache.count() == 10)
    try store.close()
    let report = try LogStore.salvage(
      from: machine.path,
      to: "/new",
      options: machine.options(),
      host: machine.host
    )
    #expect(report.entries == 10)
    let saved = try LogStore(at: "/new", options: machine.options(), host: machine.host)
    let space = try saved.keyspace("cache")
    #expect(try space.count() == 10 && space.capacity == .entries(3))
    try space.put("v", forKey: Self.key(10))
    #expect(try keys(space) == [8, 9, 10])
    // Also what is asked for is more than there is.
    try space.record(.entries(2))
    try space.setCapacity(.entries(2))
    #expect(try keys(space) == [9, 10])
    try saved.close()
  }

  @Test func aBackupKeepsTheCapacity() throws {
    let machine = Machine()
    let store = try machine.open()
    let cache = try store.keyspace("cache", capacity: Keyspace.Capacity(bytes: 1 << 20, entries: 50))
    for number in 0..<60 { try cache.put("v", forKey: Self.key(number)) }
    try store.backup(to: "/copy")
    try store.close()
    let copy = try LogStore(at: "/copy", options: machine.options(), host: machine.host)
    let copied = try copy.keyspace("cache")
    #expect(copied.capacity == Keyspace.Capacity(bytes: 1 << 20, entries: 50))
    try copied.put("v", forKey: Self.key(60))
    #expect(try keys(copied) == Set(11...60))
    try copy.close()
  }

  @Test func tasksThatFollowHearOfEvictions() async throws {
    let store = try Machine().open()
    let cache = try store.keyspace("cache")
    for number in 0..<5 { try cache.put("v", forKey: Self.key(number)) }
    let changes = store.changes(since: store.lastSequence).makeAsyncIterator()
    let task = Task {
      var changes = changes
      return try await changes.next()
    }
    while !store.probe.isWriteAwaited { await Task.yield() }
    try cache.setCapacity(.entries(4))
    let change = try await task.value
    #expect(change?.kind == .remove && change?.key == bytes(Self.key(0)))
  }

  /// A batch that gives bytes back, while entries are evicted for it, lets nobody else have these before they are free.
  @Test func whatABatchWillGiveBackIsNotTakenBefore() throws {
    let store = try Machine().open()
    let cache = try store.keyspace("cache", capacity: .bytes(4096))
    for number in 0..<4 { try cache.put([UInt8](repeating: 1, count: 900), forKey: Self.key(number)) }
    let clock = try #require(cache.core.keyClock)
    clock.pledge(-3000, 1)
    try cache.put([UInt8](repeating: 1, count: 900), forKey: Self.key(4))
    try checkCounts(cache, .bytes(4096))
    clock.release(-3000, 1)
    #expect(clock.pledged == (0, 0))
  }

  /// The room of what was evicted is given to others: as much as it was, whatever its damaged lengths say.
  @Test func damagedLengthsTakeNoRoomOfOthers() throws {
    var machine = Machine()
    machine.reusesSpace = true
    let store = try machine.open()
    let cache = try store.keyspace("cache", capacity: .entries(2))
    try store.put("first", forKey: "first")
    try cache.put([UInt8](repeating: 1, count: 200), forKey: "a")
    for number in 0..<8 { try store.put([UInt8](repeating: 7, count: 100), forKey: Self.key(number)) }
    let tail = try #require(store.probe.tail)
    let record = try #require(tail.offset(of: bytes("a") + [UInt8](repeating: 1, count: 200))) - 40
    // 456 instead of 200 bytes.
    tail.store(1, at: record + 25)
    for number in 0..<10 { try cache.put([UInt8](repeating: 2, count: 50), forKey: Self.key(number)) }
    // Of all sizes that it could pass for.
    for length in stride(from: 400, to: 520, by: 2) {
      try store.put([UInt8](repeating: 8, count: length), forKey: Self.key(length))
    }
    for number in 0..<8 { #expect(try store.get(Self.key(number)) == [UInt8](repeating: 7, count: 100)) }
    store.probe.kill()
  }

  /// With both, each holds.
  @Test func aCapacityInAStoreThatHasOne() throws {
    let machine = Machine()
    let store = try machine.open { $0.capacity = 1 << 20 }
    let cache = try store.keyspace("cache", capacity: .bytes(100_000))
    for number in 0..<3000 {
      try cache.put([UInt8](repeating: 1, count: number % 900), forKey: Self.key(number % 400))
      try store.put([UInt8](repeating: 1, count: 600), forKey: Self.key(number))
      if number % 3 == 0 { _ = try cache.get(Self.key(number % 50)) }
      let figures = try #require(store.statistics.keyspaces["cache"])
      #expect(figures.liveBytes <= 100_000 && store.statistics.bytesOnDisk <= 1 << 20)
    }
    try checkCounts(cache, .bytes(100_000))
    try store.close()
  }

  /// A large value gets its room although small ones want it, too.
  @Test func aLargeWriteIsNotStarved() throws {
    let store = try Machine().open()
    let cache = try store.keyspace("cache", capacity: .bytes(400_000))
    let isDone = Atomic(false)
    let errors = try onThreads(4) { thread in
      if thread == 0 {
        defer { isDone.store(true, ordering: .relaxed) }
        for round in 0..<20 { try cache.put([UInt8](repeating: 1, count: 350_000), forKey: "large \(round)") }
        return
      }
      var number = 0
      while !isDone.load(ordering: .relaxed) {
        number += 1
        try cache.put([UInt8](repeating: 1, count: 500), forKey: Self.key(thread * 1_000_000 + number))
      }
    }
    #expect(errors.isEmpty, "\(errors)")
    try store.close()
  }

  // MARK: Histories

  /// The durable part loses nothing, and the cache never takes more than it may, whatever else happens.
  @Test func besideACacheNothingIsLost() throws {
    var generator = SeededGenerator(announcedFor: "KeyspaceCapacityTests")
    for _ in 0..<Rounds.count(8, thorough: 1000) {
      let seed = generator.seed
      var session = Session(&generator)
      do { try session.run() } catch {
        Issue.record("seed \(seed): \(error), after \(session.trail.suffix(20))")
        return
      }
    }
  }

  private struct Session {
    private var generator: SeededGenerator
    private var machine = Machine()
    private var capacity: Keyspace.Capacity
    private(set) var trail: [String] = []
    /// What the durable keyspace holds, and what was last written of the cache.
    private var kept: [[UInt8]: [UInt8]] = [:]
    private var last: [[UInt8]: [UInt8]] = [:]

    init(_ generator: inout SeededGenerator) {
      self.generator = generator.split()
      machine.leavesCheckpoints = generator.oneIn(2)
      machine.reusesSpace = generator.oneIn(2)
      capacity = Self.capacity(&self.generator)
    }

    private static func capacity(_ generator: inout SeededGenerator) -> Keyspace.Capacity {
      Keyspace.Capacity(
        bytes: generator.oneIn(3) ? nil : Int.random(in: 3_000...40_000, using: &generator),
        entries: generator.oneIn(3) ? nil : Int.random(in: 1...60, using: &generator)
      )
    }

    private func open() throws(StoreError) -> LogStore {
      try machine.open { $0.compression = .lz4 }
    }

    mutating func run() throws {
      var store = try open()
      _ = try store.keyspace("cache", capacity: capacity)
      for step in 0..<250 {
        try self.step(&store)
        try checkLimits(store)
        if step % 25 == 24 { try check(store) }
      }
      try check(store)
      guard try store.verify().isClean else { throw CrashFailure(description: "damage") }
      try store.close()
    }

    private func checkLimits(_ store: LogStore) throws {
      let figures = store.statistics.keyspaces["cache"] ?? .init()
      guard figures.liveBytes <= capacity.bytes ?? .max, figures.keys <= capacity.entries ?? .max else {
        throw CrashFailure(description: "\(figures) in \(capacity)")
      }
    }

    private func check(_ store: LogStore) throws {
      guard try store.contents() == kept else { throw CrashFailure(description: "the durable part changed") }
      let cache = try store.keyspace("cache")
      let contents = try store.contents(of: cache)
      for (key, value) in contents where last[key] != value {
        throw CrashFailure(description: "\(key) has a value that is not its last")
      }
      for (key, value) in contents {
        guard try cache.get(key) == value else { throw CrashFailure(description: "\(key) is not found") }
      }
      let bytes = contents.reduce(0) {
        $0
          + RecordLayout.size(
            keyLength: $1.key.count,
            valueLength: $1.value.count,
            expiry: .max,
            keyspace: cache.core.tag
          )
      }
      let figures = store.statistics.keyspaces["cache"] ?? .init()
      guard figures.keys == contents.count, figures.liveBytes == bytes else {
        throw CrashFailure(description: "\(figures) instead of \(contents.count), \(bytes)")
      }
      if cache.core.order != nil, try cache.keys() != contents.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
        throw CrashFailure(description: "the order is wrong")
      }
    }

    private mutating func key() -> [UInt8] { bytes("key \(Int.random(in: 0..<90, using: &generator))") }

    private mutating func value() -> [UInt8] {
      var most = 2_400
      while most > 1, generator.oneIn(2) { most /= 2 }
      return (0..<Int.random(in: 0...most, using: &generator)).map { UInt8(truncatingIfNeeded: $0 / 16) }
    }

    private mutating func step(_ store: inout LogStore) throws {
      let cache = try store.keyspace("cache")
      switch Int.random(in: 0..<44, using: &generator) {
      case 0:
        trail.append("end")
        try store.probe.endTail()
      case 1:
        trail.append("merge")
        try store.merge()
      case 2:
        trail.append("close")
        try store.close()
        store = try open()
      case 3:
        trail.append("kill")
        store.probe.kill()
        machine.disk = try machine.disk.processKilled()
        store = try open()
      case 4:
        trail.append("power")
        try store.sync()
        let policy = [CrashPolicy.drop, .tear, .reorder, .keep][Int.random(in: 0..<4, using: &generator)]
        store.probe.kill()
        machine.disk = try machine.disk.crashImage(policy, using: &generator)
        store = try open()
      case 5:
        capacity = Self.capacity(&generator)
        trail.append("\(capacity)")
        try cache.setCapacity(capacity)
      case 6:
        trail.append("empty")
        try cache.removeAll()
        last = [:]
      case 7:
        trail.append("order")
        _ = try cache.first()
      case 8..<11:
        let key = key()
        trail.append("remove")
        try cache.remove(key)
        last[key] = nil
      case 11..<15:
        let writes = (0..<Int.random(in: 1...6, using: &generator)).map { _ in (key(), value(), generator.oneIn(5)) }
        trail.append("batch")
        let isWritten = try fits {
          try store.write { (batch) throws(StoreError) in
            for (key, value, isRemoval) in writes {
              if isRemoval { try batch.remove(key, in: cache) } else { try batch.put(value, forKey: key, in: cache) }
              try batch.put(value, forKey: key)
            }
          }
        }
        guard isWritten else { return }
        for (key, value, isRemoval) in writes {
          last[key] = isRemoval ? nil : value
          kept[key] = value
        }
      case 15..<22:
        let key = key()
        if let found = try cache.get(key), found != last[key] {
          throw CrashFailure(description: "\(key) has a wrong value")
        }
      case 22..<26:
        let (key, value) = (key(), value())
        trail.append("keep")
        try store.put(value, forKey: key)
        kept[key] = value
      default:
        let (key, value) = (key(), value())
        trail.append("put")
        guard try fits({ _ = try cache.put(value, forKey: key) }) else { return }
        last[key] = value
      }
    }
  }

  @Test func writersAtOnceNeverExceedIt() throws {
    let store = try Machine().open()
    let limit = Keyspace.Capacity(bytes: 64 << 10, entries: 300)
    let cache = try store.keyspace("cache", capacity: limit)
    let isDone = Atomic(false)
    let most = Guarded((bytes: 0, keys: 0))
    let errors = try onThreads(4) { thread in
      if thread == 3 {
        while !isDone.load(ordering: .relaxed) {
          let figures = store.statistics.keyspaces["cache"] ?? .init()
          most.withLock { $0 = (max($0.bytes, figures.liveBytes), max($0.keys, figures.keys)) }
          for number in 0..<50 { _ = try cache.get(Self.key(number)) }
        }
        return
      }
      defer { if thread == 0 { isDone.store(true, ordering: .relaxed) } }
      for number in 0..<4_000 {
        let key = Self.key((number * 7 + thread) % 900)
        switch number % 9 {
        case 0: try cache.remove(key)
        case 1:
          try store.write { (batch) throws(StoreError) in
            for other in 0..<5 {
              try batch.put([UInt8](repeating: 1, count: number % 700), forKey: Self.key(other), in: cache)
            }
          }
        default: try cache.put([UInt8](repeating: 1, count: number % 700), forKey: key)
        }
      }
    }
    #expect(errors.isEmpty, "\(errors)")
    #expect(most.withLock { $0.bytes } <= 64 << 10)
    #expect(most.withLock { $0.keys } <= 300)
    try checkCounts(cache, limit)
    try store.close()
  }
}

/// Whether a write is not more than its keyspace may take.
private func fits(_ write: () throws -> Void) throws -> Bool {
  do { try write() } catch StoreError.keyspaceFull { return false }
  return true
}
