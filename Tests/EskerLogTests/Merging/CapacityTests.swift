import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

@Suite struct CapacityTests {
  private let machine = Machine()
  private static let capacity = 1 << 20

  private func open(_ log: EventLog? = nil, _ change: (inout Options) -> Void = { _ in }) throws -> LogStore {
    try machine.open { options in
      options.capacity = Self.capacity
      options.onEvent = { log?.record($0) }
      change(&options)
    }
  }

  private static func value(_ number: Int) -> [UInt8] {
    [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 900 + number % 200)
  }

  private func bytesOnDisk() throws -> Int {
    try machine.disk.list(machine.path).reduce(0) { total, name in
      total + (try machine.disk.status("\(machine.path)/\(name)")?.size ?? 0)
    }
  }

  @Test func theFilesNeverTakeMoreThanTheCapacity() throws {
    let store = try open()
    for number in 0..<5_000 {
      try store.put(Self.value(number), forKey: "key \(number)")
      let bytes = try bytesOnDisk()
      #expect(bytes <= Self.capacity)
      if bytes > Self.capacity { return }
    }
    let count = store.count
    #expect(count > 700, "most of the capacity is used")
    // The newest are there, and of the evicted nothing is.
    for number in 0..<5_000 {
      let found = try store.get("key \(number)")
      #expect(found == nil || found == Self.value(number))
      if number >= 4_900 { #expect(found != nil) }
    }
    #expect(store.statistics.merged.recordsEvicted == 5_000 - count)
    #expect(try store.verify().isClean)
    try store.close()
    #expect(try bytesOnDisk() <= Self.capacity)
  }

  @Test func whatIsReadIsKept() throws {
    let store = try open()
    for number in 0..<3_000 {
      try store.put(Self.value(number), forKey: "key \(number)")
      // One in seven of the first hundred is asked for again and again.
      if number > 100 {
        for hot in stride(from: 0, to: 100, by: 7) { #expect(try store.get("key \(hot)") == Self.value(hot)) }
      }
    }
    #expect(try store.get("key 1") == nil)
  }

  @Test func evictionIsTold() throws {
    let log = EventLog()
    let store = try open(log)
    for number in 0..<2_000 { try store.put(Self.value(number), forKey: "key \(number)") }
    let told = log.events.reduce(0) { total, event in
      if case .evicted(let records, let bytes) = event { return bytes > records * 900 ? total + records : total }
      return total
    }
    #expect(told == 2_000 - store.count)
  }

  @Test func evictedKeysStayAwayHoweverTheStoreIsOpened() throws {
    var machine = machine
    var store = try open()
    for number in 0..<3_000 {
      try store.put(Self.value(number), forKey: "key \(number % 1_500)")
      if number % 10 == 0 { try store.remove("key \(number % 1_100)") }
    }
    var expected = try store.contents()
    #expect(expected.count > 500)
    machine.disk = try machine.disk.processKilled()
    store = try machine.open { $0.capacity = Self.capacity }
    #expect(try store.contents() == expected)
    try store.put("one more", forKey: "one more")
    expected = try store.contents()
    try store.close()
    store = try machine.open { $0.capacity = Self.capacity }
    #expect(try store.contents() == expected)
    try store.close()
    try machine.deleteCheckpoint()
    store = try machine.open { $0.capacity = Self.capacity }
    #expect(try store.contents() == expected)
  }

  @Test func aSnapshotKeepsWhatIsEvicted() throws {
    let store = try open()
    for number in 0..<500 { try store.put(Self.value(number), forKey: "key \(number)") }
    let snapshot = try store.snapshot()
    for number in 500..<4_000 { try store.put(Self.value(number), forKey: "key \(number)") }
    #expect(try store.get("key 3") == nil)
    #expect(try snapshot.contents(of: "").count == 500)
  }

  @Test func aBatchFindsRoomToo() throws {
    let store = try open()
    for number in 0..<300 {
      try store.write { (batch) throws(StoreError) in
        for part in 0..<10 { try batch.put(Self.value(number), forKey: "key \(number) \(part)") }
      }
      #expect(try bytesOnDisk() <= Self.capacity)
    }
    #expect(try store.get("key 299 9") == Self.value(299))
  }

  @Test func aValueThatDoesNotFitEvictsNothing() throws {
    let store = try open()
    for number in 0..<900 { try store.put(Self.value(number), forKey: "key \(number)") }
    let count = store.count
    #expect(throws: StoreError.self) {
      try store.put([UInt8](repeating: 1, count: Self.capacity * 2 / 3), forKey: "large")
    }
    #expect(store.count == count)
    // One that fits takes the place of many.
    try store.put([UInt8](repeating: 1, count: Self.capacity / 3), forKey: "large")
    #expect(try store.get("large")?.count == Self.capacity / 3)
    #expect(try bytesOnDisk() <= Self.capacity)
    #expect(store.count < count)
  }

  @Test func aStoreThatIsOpenedWithLessIsBroughtDown() throws {
    var store = try machine.open()
    for number in 0..<4_000 { try store.put(Self.value(number), forKey: "key \(number)") }
    try store.close()
    #expect(try bytesOnDisk() > 3 << 20)
    store = try open()
    try store.put("x", forKey: "x")
    #expect(try bytesOnDisk() <= Self.capacity)
    #expect(store.count > 500)
    #expect(try store.get("key 3999") == Self.value(3_999))
  }

  @Test func tooSmallACapacityIsRefused() throws {
    #expect(throws: StoreError.self) { try machine.open { $0.capacity = 1000 } }
  }

  @Test(.timeLimit(.minutes(60))) func aVolumeThatIsFullBeforeTheCapacityIsReachedMakesTheStoreEvict() throws {
    let machine = Machine(capacity: 640 << 10)
    let store = try machine.open { $0.capacity = Self.capacity }
    for number in 0..<1_500 { try store.put(Self.value(number), forKey: "key \(number)") }
    #expect(try store.get("key 1499") == Self.value(1_499))
    #expect(store.statistics.merged.recordsEvicted > 500)
    #expect(try store.verify().isClean)
  }
}
