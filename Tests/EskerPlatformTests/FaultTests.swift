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

@Suite struct FaultTests {
  @Test func nthMatchingCallFailsOnce() throws {
    let plan = FaultPlan()
    let files = FaultyFileSystem(SimulatedDisk(), plan: plan)
    plan.fail(.write, on: .suffix(".segment"), nth: 2, .error(EIO))
    let segment = try files.open("/1.segment", .create)
    let manifest = try files.open("/manifest", .create)
    try manifest.write([0])
    try segment.write([1])
    try manifest.write([0])
    #expect(errorCode { try segment.write([2]) } == EIO)
    try segment.write([3])
    #expect(try segment.allBytes() == [3])
    #expect(plan.callCount(of: .write) == 5)
    #expect(plan.callCount(of: .create) == 2)
  }

  @Test func stickyFaultLastsUntilHealed() throws {
    let plan = FaultPlan()
    let files = FaultyFileSystem(SimulatedDisk(), plan: plan)
    plan.fail(.create, on: .prefix("lock"), sticky: true, .error(EACCES))
    for _ in 0..<3 { #expect(errorCode { _ = try files.open("/lock", .create) } == EACCES) }
    try files.create("/other", [1])
    plan.heal()
    try files.create("/lock", [1])
  }

  @Test(arguments: [
    FaultOperation.syncDirectory, .rename, .remove, .link, .list, .status, .freeSpace, .createDirectory,
  ])
  func everyCallOnNamesCanFailWithoutEffect(_ operation: FaultOperation) throws {
    let disk = SimulatedDisk()
    try disk.create("/a", [1])
    let plan = FaultPlan()
    let files = FaultyFileSystem(disk, plan: plan)
    plan.fail(operation, .error(EIO))
    let code = errorCode {
      switch operation {
      case .syncDirectory: try files.syncDirectory("/")
      case .rename: try files.rename("/a", to: "/b")
      case .remove: try files.remove("/a")
      case .link: try files.link("/a", to: "/b")
      case .list: _ = try files.list("/")
      case .status: _ = try files.status("/a")
      case .freeSpace: _ = try files.freeSpace(at: "/")
      default: try files.createDirectory("/b")
      }
    }
    #expect(code == EIO)
    #expect(try disk.list("/") == ["a"])
  }

  @Test(arguments: [FaultOperation.read, .reserve, .truncate, .sync, .map, .mapPrivate, .tryLock, .fileStatus])
  func everyCallOnAFileCanFail(_ operation: FaultOperation) throws {
    let plan = FaultPlan()
    let file = try FaultyFileSystem(SimulatedDisk(), plan: plan).open("/a", .create)
    try file.write([1])
    plan.fail(operation, .error(EIO))
    func call() throws {
      switch operation {
      case .read: _ = try file.bytes(0..<1)
      case .reserve: try file.reserve(10)
      case .truncate: try file.truncate(0)
      case .sync: try file.sync()
      case .map: _ = try file.map(capacity: 1, writable: true)
      case .mapPrivate: _ = try file.mapPrivate(0..<1)
      case .tryLock: _ = try file.tryLock(exclusive: true)
      default: _ = try file.status()
      }
    }
    #expect(errorCode(call) == EIO)
    #expect(errorCode(call) == nil)
  }

  @Test func extendAndPopulateCanFail() throws {
    let plan = FaultPlan()
    let file = try FaultyFileSystem(SimulatedDisk(), plan: plan).open("/a", .create)
    try file.reserve(8192)
    let mapping = try file.map(capacity: 8192, writable: true)
    plan.fail(.extend, .error(ENOMEM))
    plan.fail(.populate, .error(ENOSPC))
    #expect(errorCode { try mapping.extend(to: 8192) } == ENOMEM)
    try mapping.extend(to: 8192)
    #expect(errorCode { try mapping.populate(0..<1) } == ENOSPC)
  }

  @Test func failedSyncThatMarksPagesCleanLosesThemAlthoughTheNextSyncSucceeds() throws {
    let disk = SimulatedDisk()
    let plan = FaultPlan()
    let file = try FaultyFileSystem(disk, plan: plan).open("/a", .create)
    try file.write(filled(1, 2 * 4096))
    try file.sync()
    try disk.syncDirectory("/")
    try file.write(filled(2, 2 * 4096))
    plan.fail(.sync, .failedSync(code: EIO, marksPagesClean: true))
    #expect(errorCode { try file.sync() } == EIO)
    #expect(try file.allBytes() == filled(2, 2 * 4096), "memory still shows what the device does not have")
    try file.sync()
    try file.write([3], at: 4096)

    var generator = SeededGenerator(seed: 1)
    let lost = filled(1, 4096)
    #expect(try disk.crashImage(.drop, using: &generator).contents("/a") == lost + filled(1, 4096))
    let kept = try disk.crashImage(.keep, using: &generator).contents("/a")
    #expect(kept == lost + [3] + filled(2, 4095), "only the page dirtied again can still be written")
    let reopened = try disk.processKilled()
    #expect(try reopened.contents("/a")?.first == 2, "the page cache outlives the process")
    #expect(try reopened.crashImage(.keep, using: &generator).contents("/a") == kept)
    try file.sync()
    #expect(try disk.crashImage(.drop, using: &generator).contents("/a") == kept)
  }

  @Test func whatIsWrittenOverItselfAfterAFailedSyncIsWrittenByTheNext() throws {
    let disk = SimulatedDisk()
    let plan = FaultPlan()
    let file = try FaultyFileSystem(disk, plan: plan).open("/a", .create)
    try file.write(filled(1, 3 * 4096))
    try disk.syncDirectory("/")
    plan.fail(.sync, .failedSync(code: EIO, marksPagesClean: true))
    #expect(errorCode { try file.sync() } == EIO)
    try file.write(filled(1, 4097), at: 0)
    try file.sync()
    var generator = SeededGenerator(seed: 1)
    let zeros = [UInt8](repeating: 0, count: 4096)
    #expect(try disk.crashImage(.drop, using: &generator).contents("/a") == filled(1, 2 * 4096) + zeros)
  }

  @Test func failedSyncThatLeavesPagesDirtyCanBeRepeated() throws {
    let disk = SimulatedDisk()
    let plan = FaultPlan()
    let file = try FaultyFileSystem(disk, plan: plan).open("/a", .create)
    try disk.syncDirectory("/")
    try file.write([1])
    plan.fail(.sync, .failedSync(code: EIO, marksPagesClean: false))
    #expect(errorCode { try file.sync() } == EIO)
    try file.sync()
    var generator = SeededGenerator(seed: 1)
    #expect(try disk.crashImage(.drop, using: &generator).contents("/a") == [1])
  }

  @Test func flippedBitIsSeenOnceAndNotWritten() throws {
    let plan = FaultPlan()
    let file = try FaultyFileSystem(SimulatedDisk(), plan: plan).open("/a", .create)
    try file.write([0, 0, 0])
    plan.fail(.read, .flipBit(8 + 3))
    #expect(try file.bytes(0..<3) == [0, 8, 0])
    #expect(try file.bytes(0..<3) == [0, 0, 0])
  }

  @Test func partialWriteLeavesItsFirstBytes() throws {
    let plan = FaultPlan()
    let file = try FaultyFileSystem(SimulatedDisk(), plan: plan).open("/a", .create)
    plan.fail(.write, .partial(bytes: 2, code: ENOSPC))
    #expect(errorCode { try file.write([1, 2, 3, 4]) } == ENOSPC)
    #expect(try file.allBytes() == [1, 2])
  }

  @Test func hookSeesEveryCallBeforeItHappensAndBetweenTheHalvesOfASplitWrite() throws {
    final class Log: Sendable { let entries = Guarded<[String]>([]) }
    let disk = SimulatedDisk()
    let plan = FaultPlan()
    let files = FaultyFileSystem(disk, plan: plan)
    let log = Log()
    plan.onCall { call in
      var generator = SeededGenerator(seed: 1)
      let found = try? disk.crashImage(.keep, using: &generator).contents("/a")
      log.entries.withLock { $0.append("\(call) \(found.map { "\($0)" } ?? "absent")") }
    }
    let file = try files.open("/a", .create)
    plan.fail(.write, .split(at: 1))
    try file.write([1, 2, 3])
    try file.sync()
    let entries = log.entries.withLock { $0 }
    #expect(
      entries == [
        "#1 create /a absent", "#2 write /a []", "#3 write /a [1]", "#4 sync /a [1, 2, 3]",
      ]
    )
    #expect(plan.callCount == 4)
  }

  @Test func fullSimulatedDiskRefusesAndLeavesWhatWasThere() throws {
    let disk = SimulatedDisk(capacity: 4 * 4096)
    let file = try disk.open("/a", .create)
    try file.write(filled(1, 5000))
    #expect(try disk.freeSpace(at: "/") == 2 * 4096)
    #expect(errorCode { try file.reserve(4 * 4096 + 1) } == ENOSPC)
    #expect(try file.status().size == 5000)
    #expect(errorCode { try file.truncate(5 * 4096) } == ENOSPC)
    try file.reserve(3 * 4096)
    let second = try disk.open("/b", .create)
    #expect(errorCode { try second.write(filled(2, 5000)) } == ENOSPC)
    #expect(try second.allBytes() == filled(2, 4096), "a write goes as far as there is space")
    #expect(errorCode { _ = try disk.open("/c", .create) } == ENOSPC)
    #expect(errorCode { try disk.createDirectory("/d") } == ENOSPC)
    try file.write(filled(3, 3 * 4096))
    try disk.remove("/b")
    #expect(try disk.freeSpace(at: "/") == 0, "an open file keeps its space")
    second.close()
    try disk.open("/a", .readWrite).truncate(0)
    #expect(try disk.freeSpace(at: "/") >= 3 * 4096)
    try disk.create("/c", [1])
  }
}
