import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// A segment that could not be made, listed, grown or given up is in use afterwards, or leaves nothing: no file, no row, no
/// addresses.
@Suite struct SegmentCreationTests {
  private let machine = Machine()
  private let plan = FaultPlan()

  private func open(_ machine: Machine, _ plan: FaultPlan) throws -> LogStore {
    let platform = Platform.simulated(fileSystem: FaultyFileSystem(machine.disk, plan: plan), clock: machine.clock)
    let options = machine.options { options in
      options.merge.isAutomatic = false
      // In several steps, so that the next one is made when half of it is used.
      options.segmentSize = 384 << 10
    }
    return try LogStore(at: machine.path, options: options, host: StoreHost(platform: platform, background: .inline))
  }

  private static func value(_ number: Int) -> [UInt8] { [UInt8](repeating: UInt8(number & 0xff), count: 4_000) }

  /// Every file is a segment's that is listed, or is ready to be; every segment has its file; and no addresses are taken but
  /// theirs.
  private func expectNothingIsLost(_ store: LogStore, _ machine: Machine, _ moment: Comment) throws {
    let probe = store.probe
    // Readers of other stores are waited for too.
    probe.collect()
    let segments = probe.segments
    #expect(try machine.files(".segment") == segments.map(\.path).sorted(), moment)
    // The lowest run that is free, as all segments take one granule each.
    #expect(probe.lowestFreeGranule.map { $0 <= segments.count } == true, moment)
    // What has no record is the tail or will be.
    let (tail, spares) = (probe.tailID, probe.spares.map(\.id))
    for segment in segments where segment.kind == .log && !segment.isSealed {
      #expect(segment.id == tail || spares.contains(segment.id), moment)
    }
    let listed = Set(probe.listed.map(\.id))
    for spare in spares { #expect(listed.contains(spare), moment) }
  }

  private static let operations: [FaultOperation] = [
    .create, .reserve, .write, .sync, .syncDirectory, .fileStatus, .map, .extend, .populate,
  ]

  @Test(arguments: operations, [PlatformError.noSpace, PlatformError.inputOutput])
  func aFailureLeavesNothingBehind(_ operation: FaultOperation, code: Int32) throws {
    let calls = try run(operation, .max, code)
    for nth in 1...max(1, calls) { _ = try run(operation, nth, code) }
    #expect(calls > 3)
  }

  /// Writes with the n-th such call failing; how many there were.
  private func run(_ operation: FaultOperation, _ nth: Int, _ code: Int32) throws -> Int {
    let machine = Machine()
    let plan = FaultPlan()
    let store = try open(machine, plan)
    let before = plan.callCount(of: operation)
    plan.fail(operation, nth: nth, .error(code))
    var written: [Int] = []
    func put(_ number: Int) {
      // Now and then one that has no room in a segment of the usual size.
      let value = number % 100 == 99 ? [UInt8](repeating: 1, count: 450_000) : Self.value(number)
      guard (try? store.put(value, forKey: "key \(number)")) != nil else { return }
      written.append(number)
    }
    for number in 0..<250 { put(number) }
    try? store.probe.endTail()
    let calls = plan.callCount(of: operation) - before
    // What is on the disk is not known once a sync has failed: then all of it stays.
    if store.probe.failureCode == nil {
      try expectNothingIsLost(store, machine, "\(operation) \(nth)")
      for number in 250..<350 { put(number) }
      #expect(written.last == 349)
      try expectNothingIsLost(store, machine, "\(operation) \(nth), and more")
    }
    try? store.close()
    let again = try machine.open()
    #expect(try written.allSatisfy { try again.get("key \($0)") != nil }, "\(operation) \(nth)")
    return calls
  }

  @Test func nothingIsWrittenToASegmentThatIsNotListed() throws {
    var machine = machine
    let store = try open(machine, plan)
    try store.put("v", forKey: "first")
    // Nobody else edits the manifest meanwhile.
    store.probe.stopBackground()
    let large = [UInt8](repeating: 7, count: 450_000)
    plan.fail(.write, on: .prefix("manifest"), .error(PlatformError.noSpace))
    #expect(throws: StoreError.self) { try store.put(large, forKey: "large") }
    try store.put(large, forKey: "large", durability: .synced)
    try store.put("v", forKey: "last", durability: .synced)
    machine.disk = try machine.disk.processKilled()
    let again = try machine.open()
    #expect(try again.get("large") == large)
    #expect(try again.get("last") == bytes("v"))
    #expect(try again.count() == 3)
  }

  @Test func aSpareThatCannotBeGivenUpIsKept() throws {
    let store = try open(machine, plan)
    for number in 0..<75 { try store.put(Self.value(number), forKey: "key \(number)") }
    let spare = try #require(store.probe.spares.first?.path)
    plan.fail(.write, on: .prefix("manifest"), .error(PlatformError.noSpace))
    #expect(throws: StoreError.self) { try store.probe.dropSpares() }
    #expect(store.probe.spares.map(\.path) == [spare])
    try expectNothingIsLost(store, machine, "kept")
    try store.probe.dropSpares()
    #expect(store.probe.spares.isEmpty)
    #expect(try machine.disk.status(spare) == nil)
    try expectNothingIsLost(store, machine, "given up")
  }

  @Test func aStoreThatCannotBeginToWriteKeepsNoSegment() throws {
    let store = try open(machine, plan)
    plan.fail(.write, on: .prefix("manifest"), .error(PlatformError.noSpace))
    #expect(throws: StoreError.self) { try store.put("v", forKey: "k") }
    #expect(try machine.files(".segment").isEmpty)
    try expectNothingIsLost(store, machine, "failed")
    try store.put("v", forKey: "k")
    try store.close()
    #expect(try machine.open().get("k") == bytes("v"))
  }

  @Test func aStoreThatCannotBeginToWriteAgainKeepsTheEndOfItsTail() throws {
    do {
      let store = try machine.open()
      for number in 0..<20 { try store.put(Self.value(number), forKey: "key \(number)") }
      try store.close()
    }
    let store = try open(machine, plan)
    let before = try store.contents()
    plan.fail(.write, on: .prefix("manifest"), .error(PlatformError.noSpace))
    #expect(throws: StoreError.self) { try store.put("v", forKey: "k") }
    #expect(try store.contents() == before)
    // The manifest is written when the store is closed, since time has passed.
    machine.clock.advance(milliseconds: 1_000)
    try store.close()
    let again = try machine.open()
    #expect(try again.contents() == before)
    try again.put("v", forKey: "k")
    #expect(try again.contents().count == 21)
  }

  @Test func aSegmentThatASpareIsTooSmallForKeepsTheSpare() throws {
    let store = try open(machine, plan)
    for number in 0..<75 { try store.put(Self.value(number), forKey: "key \(number)") }
    for number in 0..<5 { try store.put([UInt8](repeating: 7, count: 450_000), forKey: "large \(number)") }
    for number in 0..<75 { try store.put(Self.value(number), forKey: "key \(number)") }
    try expectNothingIsLost(store, machine, "large records")
    try store.close()
    let again = try machine.open()
    #expect(try again.count() == 80)
    #expect(try again.verify().isClean)
  }

  /// The tail may become three times as long as others, which take no addresses for that, nor does what it has ended as.
  @Test(arguments: [false, true]) func onlyTheTailTakesAddressesForMore(readOnly: Bool) throws {
    var machine = machine
    machine.reusesSpace = true
    let store = try machine.open()
    try store.fill(1_000, length: 300)
    let contents = try store.contents()
    try store.close()
    let again = try machine.open { $0.readOnly = readOnly }
    let sealed = again.probe.listed.compactMap { again.probe.hold($0.id) }.filter(\.isSealed)
    #expect(sealed.count > 3)
    for segment in sealed {
      #expect((segment.recordsEnd...(80 << 10)).contains(segment.capacity), "\(segment.id): \(segment.capacity)")
    }
    #expect(try again.contents() == contents)
    if !readOnly {
      try again.fill(1_000, length: 300, from: 1_000)
      #expect(try again.count() == 2_000)
      try again.merge()
      #expect(try again.verify().isClean)
    }
  }
}
