import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

@Suite struct OrderedReadTests {
  private static func key(_ number: Int) -> [UInt8] { withUnsafeBytes(of: UInt32(number).bigEndian) { Array($0) } }
  private static func number(_ key: [UInt8]) -> Int { key.reduce(0) { $0 << 8 | Int($1) } }

  @Test func aPageGoesOnWhereTheLastOneEnded() throws {
    let store = try Machine().open()
    for number in 0..<1000 { try store.put("\(number)", forKey: "user/\(number % 10)/\(1000 + number)") }
    var found: [[UInt8]] = []
    var range = KeyRange.prefix("user/7/")
    while case let page = try store.entries(in: range, limit: 7), let last = page.last {
      #expect(page.count <= 7)
      found += page.map(\.value)
      range = range.after(last.key)
    }
    #expect(found == stride(from: 7, to: 1000, by: 10).map { bytes("\($0)") })
    let newest = try store.entries(in: .prefix("user/7/"), order: .descending, limit: 3).map(\.value)
    #expect(newest == [bytes("997"), bytes("987"), bytes("977")])
    #expect(try store.entries(limit: 0).isEmpty && store.entries(limit: -1).isEmpty)
    #expect(try store.count(in: .prefix("user/7/")) == 100)
  }

  @Test func aQueueTakesNoMoreThanWhatIsInIt() throws {
    let store = try Machine().open()
    let queue = try store.keyspace("queue")
    for number in 0..<20_000 {
      try queue.put("job", forKey: Self.key(number))
      guard number >= 50 else { continue }
      let first = try #require(try queue.first())
      #expect(Self.number(first.key) == number - 50)
      try queue.remove(first.key)
    }
    #expect(try queue.count(in: .all) == 50)
    #expect(try #require(queue.core.order).byteCount <= 10 * 4096)
  }

  @Test func whatNobodyAsksForInOrderKeepsNoKeys() throws {
    let store = try Machine().open()
    for name in ["asked", "other"] {
      let space = try store.keyspace(name)
      for number in 0..<100 { try space.put("v", forKey: Self.key(number)) }
    }
    #expect(try store.keyspace("asked").keys().count == 100)
    #expect(try store.keyspace("asked").core.order?.isComplete == true)
    #expect(try store.keyspace("other").core.order == nil)
    // What follows is kept.
    try store.keyspace("asked").put("v", forKey: Self.key(100))
    #expect(try store.keyspace("asked").keys().count == 101)
  }

  @Test func whatExpiredOrWasEvictedLeavesNoKeyBehind() throws {
    let machine = Machine()
    let store = try machine.open { $0.capacity = 1 << 20 }
    let space = try store.keyspace("cache")
    #expect(try space.first() == nil)
    for number in 0..<100 { try space.put("v", forKey: Self.key(number), expiry: .after(.seconds(1))) }
    machine.clock.advance(milliseconds: 2000)
    #expect(try space.keys().isEmpty)
    try space.removeExpired()
    #expect(try #require(space.core.order).byteCount == 0)
    for number in 0..<2000 { try space.put([UInt8](repeating: 1, count: 2000), forKey: Self.key(number)) }
    let count = try space.count()
    #expect(count > 0 && count < 2000)
    #expect(try space.keys().count == count)
    // Some keys that went with a whole segment may stay for a while; there are never more than were put.
    #expect(try #require(space.core.order).byteCount <= 2000 * 24)
  }

  /// Without a hash list, what has expired is found by a walk over the index.
  @Test func aSweepLeavesNoKeyBehind() throws {
    let machine = Machine()
    let store = try machine.open()
    #expect(try store.first() == nil)
    for number in 0..<3000 {
      try store.put("v", forKey: Self.key(number), expiry: number % 10 == 0 ? .never : .after(.seconds(1)))
    }
    machine.clock.advance(milliseconds: 2000)
    let order = try #require(store.default.core.order)
    let before = order.byteCount
    #expect(try store.removeAllExpired() == 2700)
    #expect(try store.keys().map(Self.number) == Array(stride(from: 0, to: 3000, by: 10)))
    for number in stride(from: 0, to: 3000, by: 10) { try store.remove(Self.key(number)) }
    #expect(before > 0 && order.byteCount == 0)
  }

  @Test func anEmptiedKeyspaceBeginsAnew() throws {
    let store = try Machine().open()
    let space = try store.keyspace("s")
    for number in 0..<300 { try space.put("v", forKey: Self.key(number)) }
    let snapshot = try store.snapshot()
    #expect(try space.keys().count == 300)
    try space.removeAll()
    #expect(try space.first() == nil)
    try space.put("new", forKey: Self.key(7))
    #expect(try space.entries().map(\.value) == [bytes("new")])
    // The old keys leave the index, and nothing of the new ones goes with them.
    store.probe.sweep()
    #expect(try space.entries().map(\.value) == [bytes("new")])
    #expect(try snapshot.entries(in: space, .all).map { Self.number(try $0.key()) } == Array(0..<300))
    #expect(try snapshot.entries(in: space, .from(Self.key(290))).map { try $0.value() }.count == 10)
    try store.removeKeyspace("s")
    #expect(throws: StoreError.keyspaceRemoved("s")) { try space.keys() }
    #expect(throws: StoreError.keyspaceRemoved("s")) { try space.removeAll(in: .all) }
    #expect(Array(try store.snapshot().entries(in: space, .all)).isEmpty)
  }

  @Test func aRangeIsRemovedInBatches() throws {
    let store = try Machine().open()
    for number in 0..<1000 { try store.put("v", forKey: Self.key(number)) }
    let before = store.lastSequence
    #expect(try store.removeAll(in: .from(Self.key(100)).upTo(Self.key(900))) == 800)
    #expect(try store.keys().map(Self.number) == Array(0..<100) + Array(900..<1000))
    #expect(store.lastSequence.rawValue == before.rawValue + 800)
    #expect(try store.removeAll(in: .from(Self.key(100)).upTo(Self.key(900))) == 0)
  }

  @Test func whatTheBodyThrowsEndsAScan() throws {
    struct Enough: Error {}
    let store = try Machine().open()
    for number in 0..<100 { try store.put("v", forKey: Self.key(number)) }
    var seen = 0
    #expect(throws: Enough.self) {
      try store.forEachEntry { (_, _) throws -> Bool in
        seen += 1
        if seen == 40 { throw Enough() }
        return true
      }
    }
    #expect(seen == 40)
    try store.close()
    #expect(throws: StoreError.closed) { try store.keys() }
    #expect(throws: StoreError.closed) { try store.first() }
  }

  @Test func aReaderInAnotherProcessFollows() throws {
    let machine = Machine()
    let store = try machine.open()
    let space = try store.keyspace("s")
    for number in 0..<200 { try space.put("v", forKey: Self.key(number)) }
    let reader = try machine.open { $0.readOnly = true }
    let mine = try reader.keyspace("s")
    #expect(try mine.keys().count == 200)
    for number in 200..<300 { try space.put("v", forKey: Self.key(number)) }
    for number in 0..<50 { try space.remove(Self.key(number)) }
    try reader.refresh()
    #expect(try mine.keys().map(Self.number) == Array(50..<300))
    try store.merge()
    try reader.refresh()
    #expect(try mine.keys(order: .descending).map(Self.number) == (50..<300).reversed())
    try space.removeAll()
    try space.put("v", forKey: Self.key(7))
    try reader.refresh()
    #expect(try mine.keys().map(Self.number) == [7])
    #expect(throws: StoreError.readOnly) { try mine.removeAll(in: .prefix("nothing")) }
    try reader.close()
  }

  @Test func tasksScanToo() async throws {
    let store = try Machine().open()
    let tasks = store.async
    for number in 0..<1000 { try store.put("\(number)", forKey: Self.key(number)) }
    #expect(try await tasks.keys(in: .from(Self.key(990))).map(Self.number) == Array(990..<1000))
    #expect(try await tasks.entries(order: .descending, limit: 2).map(\.value) == [bytes("999"), bytes("998")])
    #expect(try await tasks.first()?.value == bytes("0"))
    #expect(try await tasks.last(in: .upTo(Self.key(500)))?.value == bytes("499"))
    #expect(try await tasks.count(in: .after(Self.key(500))) == 499)
    #expect(try await tasks.removeAll(in: .after(Self.key(500))) == 499)
    #expect(try store.keys().count == 501)
  }

  @Test func everyPackedKeyIsFound() throws {
    let store = try Machine().open { $0.compression = .lz4 }
    for number in 0..<5000 { try store.put("value \(number)", forKey: "key \(10_000 + number)") }
    try store.probe.endTail()
    try store.merge()
    #expect(store.statistics.segments.contains { $0.isPacked })
    let keys = (0..<5000).map { bytes("key \(10_000 + $0)") }
    #expect(try store.keys() == keys)
    #expect(try store.entries(in: .from(keys[4000])).map(\.value) == (4000..<5000).map { bytes("value \($0)") })
    #expect(
      try store.snapshot().entries(in: store.default, .from(keys[4990])).map { try $0.key() } == Array(keys[4990...])
    )
    for key in keys[..<4000] { try store.remove(key) }
    #expect(try store.keys() == Array(keys[4000...]))
    #expect(try #require(store.default.core.order).byteCount < 1000 * 40)
  }
}
