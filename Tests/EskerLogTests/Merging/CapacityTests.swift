import EskerFormat
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

  private func bytesOnDisk() throws -> Int { try lengthsOnDisk().reduce(0) { $0 + $1.length } }

  private func lengthsOnDisk() throws -> [(path: String, length: Int)] {
    try machine.disk.list(machine.path).map { "\(machine.path)/\($0)" }.map {
      ($0, try machine.disk.status($0)?.size ?? 0)
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
    let count = try store.count()
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

  /// What a merge has written and what it leaves are there together for a while, and so are files that are about to be removed: a write
  /// that looked for room at that moment would have to count them.
  @Test func allFilesCountAtEveryMoment() throws {
    var machine = machine
    let plan = FaultPlan()
    machine.calls = plan
    let store = try machine.open { $0.capacity = Self.capacity }
    // A segment counts as soon as it can be written to.
    let made = Guarded("")
    let isLooking = Guarded(false)
    let uncounted = Guarded<[String]>([])
    plan.onCall { call in
      let isWithin = isLooking.withLock { isLooking in
        defer { isLooking = true }
        return isLooking
      }
      guard !isWithin else { return }
      defer { isLooking.withLock { $0 = false } }
      let path = made.withLock { path in
        if call.operation == .create { path = call.path }
        if call.path != path, call.operation != .syncDirectory { path = "" }
        return path
      }
      do {
        let bytes = try lengthsOnDisk().reduce(store.probe.plannedBytes) { total, file in
          file.path == path ? total : total + Catalog.wholePages(file.length)
        }
        // An edit of the manifest may take one more page.
        let room = max(0, Self.capacity - bytes - 4096)
        if store.probe.hasRoom(for: room + 1) { uncounted.withLock { $0.append("before \(call), of \(bytes) bytes") } }
      } catch { uncounted.withLock { $0.append("before \(call): \(error)") } }
    }
    for number in 0..<3_000 {
      try store.put(Self.value(number), forKey: "key \(number % 1_300)")
      if number % 5 == 0 { try store.remove("key \(number % 1_100)") }
      // What is read is copied.
      _ = try store.get("key \(number / 2 % 1_300)")
    }
    plan.onCall(nil)
    #expect(store.statistics.merged.recordsEvicted > 0)
    #expect(store.statistics.merged.bytesWritten > 0)
    #expect(uncounted.withLock { $0 } == [])
    try store.close()
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
    #expect(try told == 2_000 - store.count())
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
    let count = try store.count()
    #expect(throws: StoreError.self) {
      try store.put([UInt8](repeating: 1, count: Self.capacity * 2 / 3), forKey: "large")
    }
    #expect(try store.count() == count)
    // One that fits takes the place of many.
    try store.put([UInt8](repeating: 1, count: Self.capacity / 3), forKey: "large")
    #expect(try store.get("large")?.count == Self.capacity / 3)
    #expect(try bytesOnDisk() <= Self.capacity)
    #expect(try store.count() < count)
  }

  /// The length of a value whose record takes so many bytes, a multiple of eight.
  private static func valueLength(forRecordOf size: Int, key: String) -> Int {
    var length = size - 64
    while true {
      let header = RecordHeader(
        sequence: 0,
        kind: .put,
        keyHash: 0,
        keyLength: key.utf8.count,
        valueLength: length + 1
      )
      if header.size > size { return length }
      length += 1
    }
  }

  private enum Filling: CaseIterable { case empty, halfFull, full }

  private static func fill(_ store: LogStore, _ filling: Filling, capacity: Int) throws {
    let bytes = filling == .empty ? 0 : filling == .halfFull ? capacity / 2 : 2 * capacity
    for number in 0..<bytes / 1000 { try store.put([UInt8](repeating: 1, count: 950), forKey: "key \(number)") }
  }

  @Test(arguments: [256 << 10, 1 << 20, 5 << 20], [false, true])
  func halfOfTheCapacityIsTheLimitHoweverFullTheStoreIs(capacity: Int, reusesSpace: Bool) throws {
    for filling in Filling.allCases {
      var roomy = Machine()
      roomy.reusesSpace = reusesSpace
      let fits = try roomy.open { $0.capacity = capacity }
      try Self.fill(fits, filling, capacity: capacity)
      let half = Self.valueLength(forRecordOf: capacity / 2, key: "large")
      try fits.put([UInt8](repeating: 2, count: half), forKey: "large")
      #expect(try fits.get("large")?.count == half, "\(filling)")
      try fits.put([UInt8](repeating: 3, count: half), forKey: "large")
      #expect(try fits.verify().isClean)

      var machine = Machine()
      machine.reusesSpace = reusesSpace
      let store = try machine.open { $0.capacity = capacity }
      try Self.fill(store, filling, capacity: capacity)
      let before = try store.contents()
      for length in [half + 1, capacity * 2 / 3, capacity - 1, capacity, capacity + 1, 3 * capacity] {
        let needed = (capacity / 2 + 1)...(length + 100)
        #expect("\(filling), \(length)") {
          try store.put([UInt8](repeating: 2, count: length), forKey: "large")
        } throws: {
          guard case StoreError.capacityReached(machine.path, capacity, let bytes) = $0 else { return false }
          return needed ~= bytes && "\($0)".contains("half of the capacity") && "\($0)".contains("\(capacity)")
        }
        #expect(throws: StoreError.self) {
          try store.update(forKey: "large") { (_) throws(StoreError) in .put([UInt8](repeating: 2, count: length)) }
        }
      }
      #expect(throws: StoreError.self) {
        try store.write { (batch) throws(StoreError) in
          for part in 0..<4 { try batch.put([UInt8](repeating: 2, count: half / 3), forKey: "part \(part)") }
        }
      }
      #expect(try store.contents() == before, "\(filling)")
      #expect(store.statistics.merged.recordsEvicted == 0 || filling == .full)
    }
  }

  /// As when other threads take the room as often as it is made.
  @Test(arguments: [false, true])
  func aWriteThatOthersKeepFromItsRoomIsNotRefused(hasRoom: Bool) throws {
    let store = try open()
    for number in 0..<(hasRoom ? 100 : 3_000) { try store.put(Self.value(number), forKey: "key \(number)") }
    let before = try store.count()
    var attempts = 0
    try store.probe.makingRoom { () throws(StoreError) in
      attempts += 1
      if attempts <= 100 { throw .capacityReached(path: machine.path, capacity: Self.capacity, needed: 48) }
    }
    #expect(attempts == 101)
    // What was made once is enough: nobody has taken it here.
    let lost = try before - store.count()
    #expect(lost <= (hasRoom ? 0 : 200), "\(lost) of \(before)")
  }

  @Test func whatIsLeftOfALargeTailTakesNoMoreThanHalf() throws {
    // Opened without a limit before, the store has a tail that would hold what the capacity forbids.
    var store = try machine.open { $0.segmentSize = 8 << 20 }
    for number in 0..<2_000 { try store.put(Self.value(number), forKey: "key \(number)") }
    try store.close()
    store = try machine.open {
      $0.segmentSize = 8 << 20
      $0.capacity = Self.capacity
    }
    for number in 0..<20 {
      // Enough for the next part of the tail to be opened.
      for part in 0..<70 { try store.put(Self.value(part), forKey: "part \(part)") }
      try store.put("small", forKey: "small \(number)")
      #expect("\(number)") {
        try store.put([UInt8](repeating: 1, count: Self.capacity / 2), forKey: "large")
      } throws: {
        if case StoreError.capacityReached = $0 { true } else { false }
      }
      #expect(try store.get("small \(number)") != nil)
    }
  }

  @Test func aStoreThatIsOpenedWithLessIsBroughtDown() throws {
    var store = try machine.open()
    for number in 0..<4_000 { try store.put(Self.value(number), forKey: "key \(number)") }
    try store.close()
    #expect(try bytesOnDisk() > 3 << 20)
    store = try open()
    try store.put("x", forKey: "x")
    #expect(try bytesOnDisk() <= Self.capacity)
    #expect(try store.count() > 500)
    #expect(try store.get("key 3999") == Self.value(3_999))
  }

  /// The tail of a store without a limit would hold all that the capacity allows, and more.
  @Test(arguments: [0, 1, 100]) func aStoreThatGetsACapacityLaterKeepsToIt(_ before: Int) throws {
    var store = try machine.open { $0.segmentSize = 8 << 20 }
    for number in 0..<before { try store.put(Self.value(number), forKey: "before \(number)") }
    try store.close()
    store = try open { $0.segmentSize = 8 << 20 }
    if before > 0 { #expect(try store.get("before 0") == Self.value(0)) }
    for number in 0..<3_000 {
      try store.put(Self.value(number), forKey: "key \(number)")
      let bytes = try bytesOnDisk()
      #expect(bytes <= Self.capacity, "after \(number)")
      if bytes > Self.capacity { return }
    }
    #expect(try store.count() > 700, "most of the capacity is used")
    #expect(try store.get("key 2999") == Self.value(2_999))
    try store.close()
    #expect(try bytesOnDisk() <= Self.capacity)
    store = try open()
    #expect(try store.get("key 2999") == Self.value(2_999))
    #expect(try store.verify().isClean)
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
