import EskerFormat
import EskerPlatform
import EskerTestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

@testable import EskerLog

/// Keys that a checkpoint has in order.
@Suite struct StoredOrderTests {
  private static func key(_ number: Int) -> [UInt8] { withUnsafeBytes(of: UInt32(number).bigEndian) { Array($0) } }
  private static func number(_ key: [UInt8]) -> Int { key.reduce(0) { $0 << 8 | Int($1) } }

  private let machine = Machine()

  /// A closed store, of whose two keyspaces one was read in order; with a checkpoint.
  private func close(after numbers: Range<Int> = 0..<3_000) throws {
    let store = try machine.open()
    for name in ["ordered", "other"] {
      let space = try store.keyspace(name)
      for number in numbers { try space.put("v", forKey: Self.key(number)) }
    }
    #expect(try store.keyspace("ordered").first()?.key == Self.key(numbers.lowerBound))
    try store.close()
  }

  private func rows(of machine: Machine) throws -> (path: String, orders: [CheckpointMeta.Order]) {
    let path = try #require(try machine.files(".checkpoint").first)
    let file = try machine.disk.open(path, .read)
    defer { file.close() }
    let bytes = try file.allBytes()
    let header = try CheckpointHeader(
      decoding: ContiguousArray(bytes.prefix(4096)).span.bytes,
      fileLength: UInt64(bytes.count)
    )
    let start = Int(header.layout.metaOffset)
    let meta = Array(bytes[start..<start + Int(header.metaLength)])
    return (
      path,
      try CheckpointMeta(
        decoding: ContiguousArray(meta).span.bytes,
        checksum: header.metaChecksum,
        hasOrders: header.hasOrders
      ).orders
    )
  }

  @Test func anOpeningHasTheOrderOfTheCheckpoint() throws {
    try close()
    let rows = try rows(of: machine).orders
    #expect(rows.map(\.keyCount) == [3_000])
    let store = try machine.open()
    let space = try store.keyspace("ordered")
    let order = try #require(space.core.order)
    #expect(order.isComplete && order.byteCount == Int(rows[0].byteCount))
    #expect(store.statistics.keyspaces.compactMapValues(\.orderBytes) == ["ordered": order.byteCount])
    #expect(try store.keyspace("other").core.order == nil)
    // It is used as any other, and goes on to have what is put in and not what is taken out.
    try space.put("v", forKey: Self.key(5_000))
    for number in stride(from: 0, to: 3_000, by: 2) { try space.remove(Self.key(number)) }
    let left = Array(stride(from: 1, to: 3_000, by: 2)) + [5_000]
    #expect(try space.keys().map(Self.number) == left)
    #expect(try space.keys(in: .all, order: .descending).map(Self.number) == left.reversed())
    #expect(space.core.order === order)
    #expect(try store.verify().damage.isEmpty)
    try store.close()
    // And again.
    let next = try machine.open().keyspace("ordered")
    #expect(next.core.order?.isComplete == true)
    #expect(try next.keys().map(Self.number) == left)
  }

  /// What is read behind the checkpoint comes to the order, and goes from it, before anybody asks; in a reader beside the writer too.
  @Test(arguments: ["killed", "reader"]) func whatWasLoggedBehindTheCheckpointIsInOrder(_ way: String) throws {
    try close()
    let writer = try machine.open()
    let space = try writer.keyspace("ordered")
    try space.put("v", forKey: Self.key(10_000))
    try space.remove(Self.key(0))
    try space.put("new", forKey: Self.key(1))
    var other = machine
    if way == "killed" { other.disk = try machine.disk.processKilled() }
    let store = try other.open { $0.readOnly = way == "reader" }
    let found = try store.keyspace("ordered")
    let order = try #require(found.core.order)
    #expect(order.isComplete)
    #expect(try found.keys().map(Self.number) == Array(1..<3_000) + [10_000])
    if way == "reader" {
      try space.put("v", forKey: Self.key(10_001))
      try space.remove(Self.key(1))
      try store.refresh()
      #expect(try found.keys().map(Self.number) == Array(2..<3_000) + [10_000, 10_001])
    }
    #expect(found.core.order === order)
    try store.close()
    try writer.close()
  }

  @Test func anEmptiedKeyspaceHasNoneOfTheKeysOfTheCheckpoint() throws {
    try close()
    let store = try machine.open()
    let space = try store.keyspace("ordered")
    try space.removeAll()
    try space.put("v", forKey: Self.key(7))
    var killed = machine
    killed.disk = try machine.disk.processKilled()
    let found = try killed.open().keyspace("ordered")
    #expect(try found.keys().map(Self.number) == [7])
  }

  /// Whoever comes upon a damaged page goes on with keys that are gathered anew, whatever they do.
  @Test(arguments: ["scan", "scan downwards", "put", "remove"]) func aDamagedPageCostsAPassOverTheRecords(
    _ what: String
  ) throws {
    try close()
    let (path, orders) = try rows(of: machine)
    let order = try #require(orders.first)
    for page in stride(from: Int(order.offset), to: Int(order.offset + order.byteCount), by: 4096) {
      var damaged = machine
      damaged.disk = try machine.disk.processKilled()
      let file = try damaged.disk.open(path, .readWrite)
      let place = page + 41
      try file.writeAll([try file.bytes(in: place..<place + 1)[0] ^ 1], at: place)
      file.close()
      let log = EventLog()
      let store = try damaged.open { $0.onEvent = { log.record($0) } }
      let space = try store.keyspace("ordered")
      var expected = Set(0..<3_000)
      switch what {
      case "put":
        for number in 3_000..<3_010 {
          try space.put("v", forKey: Self.key(number))
          expected.insert(number)
        }
        try space.put("v", forKey: [])
        try space.remove([])
      case "remove":
        for number in stride(from: 0, to: 3_000, by: 100) {
          try space.remove(Self.key(number))
          expected.remove(number)
        }
      default: break
      }
      let direction: KeyRange.Direction = what == "scan downwards" ? .descending : .ascending
      let found = try space.keys(in: .all, order: direction).map(Self.number)
      #expect(found == (direction == .ascending ? expected.sorted() : expected.sorted().reversed()))
      #expect(try store.verify().damage.map(\.location.path).contains(path))
      try store.close()
      #expect(log.damage.map(\.path) == [path], "page at \(page)")
      #expect(log.damage.map(\.offset) == [page])
    }
  }

  /// A key that was there at the checkpoint's cut, and was removed before the checkpoint was written, is not in its order. If a power
  /// failure brought it back, it would be there and in no range.
  @Test func aRemovalThatAnOrderKnowsOfIsNotLost() throws {
    var machine = machine
    let plan = FaultPlan()
    machine.calls = plan
    let store = try machine.open()
    for number in 0..<3_000 { try store.put("v", forKey: Self.key(number)) }
    #expect(try store.first()?.key == Self.key(0))
    try store.sync()
    let removed = Guarded(false)
    plan.onCall { call in
      guard call.operation == .write, call.path.hasSuffix("checkpoint.tmp"), !removed.withLock({ $0 }) else { return }
      removed.withLock { $0 = true }
      _ = try? store.remove(Self.key(1_500))
    }
    store.probe.writeCheckpoint()
    plan.onCall(nil)
    #expect(removed.withLock { $0 })
    var random = SeededGenerator(seed: 1)
    var after = Machine()
    after.disk = try machine.disk.crashImage(.drop, using: &random)
    #expect(try rows(of: after).orders.map(\.keyCount) == [2_999])
    let found = try after.open()
    #expect(try found.get(Self.key(1_500)) == nil)
    #expect(try found.keys().map(Self.number) == Array(0..<1_500) + Array(1_501..<3_000))
    try store.close()
  }

  /// Hears of the first removal of a batch: its key is gone, and no number is published yet.
  private final class Ear: ChangeListener {
    private let body: @Sendable () -> Void
    private let hasHeard = SharedFlag()

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    func receive(_ key: [UInt8]?, _ change: () -> KeyspaceChange) {
      guard !hasHeard.isRaised else { return }
      hasHeard.raise()
      body()
    }
  }

  /// A checkpoint that lacks such a key learns of the removal from its writer alone, and waits until it is durable.
  @Test func aRemovalThatIsNotPublishedYetIsNotLost() throws {
    var machine = machine
    let plan = FaultPlan()
    machine.calls = plan
    let store = try machine.open()
    for number in 0..<3_000 { try store.put("v", forKey: Self.key(number)) }
    #expect(try store.first()?.key == Self.key(0))
    try store.sync()
    // From the last piece of the index on, a checkpoint copies nothing under the writer's lock any more.
    let pieces = store.probe.bucketCount / 1_024
    let written = SharedCounter()
    let (isCopied, isRemoved, isNamed) = (SharedFlag(), SharedFlag(), SharedFlag())
    plan.onCall { call in
      switch call.operation {
      case .write where call.path.hasSuffix("checkpoint.tmp"):
        guard written.add() == pieces else { return }
        isCopied.raise()
        #expect(eventually { isRemoved.isRaised })
      case .syncDirectory where isCopied.isRaised: isNamed.raise()
      default: break
      }
    }
    try store.default.addListener(
      Ear {
        isRemoved.raise()
        #expect(eventually { isNamed.isRaised })
        // Whoever does not wait for this thread goes on meanwhile.
        usleep(100_000)
      }
    )
    let errors = try onThreads(2) { thread in
      if thread == 0 { return store.probe.writeCheckpoint() }
      #expect(eventually { isCopied.isRaised })
      try store.write { batch in
        try batch.remove(Self.key(1_500))
        try batch.remove(Self.key(1_501))
      }
    }
    plan.onCall(nil)
    #expect(errors.isEmpty)
    var random = SeededGenerator(seed: 1)
    var after = Machine()
    after.disk = try machine.disk.crashImage(.drop, using: &random)
    #expect(try rows(of: after).orders.map(\.keyCount) == [2_999])
    let found = try after.open()
    #expect(try found.get(Self.key(1_500)) == nil)
    #expect(try found.keys().map(Self.number) == Array(0..<1_500) + Array(1_502..<3_000))
    try found.close()
    try store.close()
  }

  /// The index that a checkpoint has may still lead to the key's expired record, while its order has the key no more.
  @Test(arguments: ["the writer", "the next one"]) func aKeyThatExpiredBesideACheckpointAndCameBackIsInOrder(
    _ who: String
  ) throws {
    var machine = machine
    let plan = FaultPlan()
    machine.calls = plan
    let store = try machine.open()
    for number in 0..<3_000 {
      try store.put("v", forKey: Self.key(number), expiry: number == 1_500 ? .after(.seconds(1)) : .never)
    }
    #expect(try store.first()?.key == Self.key(0))
    machine.clock.advance(milliseconds: 2_000)
    let expired = Guarded(0)
    plan.onCall { call in
      guard call.operation == .write, call.path.hasSuffix("checkpoint.tmp"), expired.withLock({ $0 }) == 0 else {
        return
      }
      expired.withLock { $0 = (try? store.removeExpired()) ?? -1 }
    }
    store.probe.writeCheckpoint()
    plan.onCall(nil)
    #expect(expired.withLock { $0 } == 1)
    if who == "the writer" { try store.put("new", forKey: Self.key(1_500)) }
    var after = self.machine
    after.disk = try machine.disk.processKilled()
    let found = try after.open()
    if who == "the next one" { try found.put("new", forKey: Self.key(1_500)) }
    #expect(try found.get(Self.key(1_500)) == bytes("new"))
    #expect(try found.keys().map(Self.number) == Array(0..<3_000))
    try found.close()
    try store.close()
  }

  /// So the next opening has it, although there is a checkpoint that would do.
  @Test func aCloseWritesACheckpointForKeysThatTakeTimeToGather() throws {
    var machine = machine
    machine.leavesCheckpoints = false
    for isAsked in [false, true, true] {
      let store = try machine.open { $0.segmentSize = 1 << 20 }
      if try store.count() == 0 {
        for number in 0..<20_000 { try store.put([UInt8](repeating: 1, count: 60), forKey: Self.key(number)) }
      }
      if isAsked { #expect(try store.last()?.key == Self.key(19_999)) }
      try store.put("v", forKey: Self.key(5))
      try store.close()
    }
    // One for the keys, one for their order, and none for a look at it.
    let (path, orders) = try rows(of: machine)
    #expect(path.hasSuffix("/0000000000000002.checkpoint"))
    #expect(orders.map(\.keyCount) == [20_000])
  }

  /// Pages of long keys are larger and less full; keys are gathered, written and read all the same.
  @Test func keysOfAnyLengthAreInOrder() throws {
    var random = SeededGenerator(announcedFor: "keysOfAnyLengthAreInOrder")
    for most in [5_000, 65_535] {
      let machine = Machine()
      let store = try machine.open()
      let keys = (0..<300).map { number in
        // Some that share nearly all of their bytes with others.
        [UInt8](repeating: UInt8(number % 3), count: Int.random(in: 0..<most - 8, using: &random)) + random.bytes(8)
      }
      for key in keys { try store.put("v", forKey: key) }
      let sorted = keys.sorted { $0.lexicographicallyPrecedes($1) }
      #expect(try store.keys() == sorted)
      try store.close()
      let next = try machine.open()
      #expect(next.default.core.order?.isComplete == true)
      #expect(try next.keys(in: .all, order: .descending) == sorted.reversed())
      #expect(try next.verify().damage.isEmpty)
      try next.close()
    }
  }

  /// Keys that may lack one are not for another opening.
  @Test func anOrderWithAGapIsNotWritten() throws {
    let store = try machine.open()
    for number in 0..<1_000 { try store.put("v", forKey: Self.key(number)) }
    #expect(try store.keys().count == 1_000)
    store.default.core.order?.noteGap(.closed)
    store.probe.writeCheckpoint()
    #expect(try rows(of: machine).orders == [])
    try store.close()
  }
}
