import EskerPlatform
import EskerTestSupport
import EskerTools
import Testing

@testable import EskerLog

/// The ways to make a store out of another one.
enum Copying: String, CaseIterable {
  case backup, copyingBackup, restore, repair

  var mark: String {
    switch self {
    case .backup, .copyingBackup: "backup.unfinished"
    case .restore: "restore.unfinished"
    case .repair: "repair.unfinished"
    }
  }
}

/// A closed store at `/store`, and copies of it at `/copy`.
final class CopyBench: Sendable {
  let disk: SimulatedDisk
  let plan = FaultPlan()
  let clock = FakeClock()
  let expected: [[UInt8]: [UInt8]]

  init() throws {
    disk = SimulatedDisk()
    var expected: [[UInt8]: [UInt8]] = [:]
    let host = StoreHost(platform: disk.platform(clock: clock, seed: 3), background: .inline)
    let store = try LogStore(at: "/store", options: Self.options(clock), host: host)
    for number in 0..<150 {
      let value = [UInt8](repeating: UInt8(number), count: 900)
      try store.put(value, forKey: "key \(number)")
      expected[bytes("key \(number)")] = value
    }
    try store.close()
    self.expected = expected
  }

  private static func options(_ clock: FakeClock) -> Options {
    var options = Options()
    options.segmentSize = 64 << 10
    options.clock = Options.Clock(clock)
    return options
  }

  func host(_ fileSystem: any FileSystem, processID: Int32 = 4711) -> StoreHost {
    let platform = Platform.simulated(fileSystem: fileSystem, clock: clock, seed: 7, processID: processID)
    return StoreHost(platform: platform, background: .inline)
  }

  func open(_ path: String, on fileSystem: any FileSystem, readOnly: Bool = false) throws(StoreError) -> LogStore {
    var options = Self.options(clock)
    options.readOnly = readOnly
    return try LogStore(at: path, options: options, host: host(fileSystem))
  }

  /// Makes a copy; false when it says itself that it lacks something.
  @discardableResult
  func make(
    _ copying: Copying,
    at path: String = "/copy",
    on fileSystem: any FileSystem,
    processID: Int32 = 4711,
    progress: ((Double) -> Bool)? = nil
  ) throws(StoreError) -> Bool {
    let host = host(fileSystem, processID: processID)
    var options = Self.options(clock)
    switch copying {
    case .backup, .copyingBackup:
      options.readOnly = true
      let store = try LogStore(at: "/store", options: options, host: host)
      try store.backup(to: path, copying: copying == .copyingBackup, progress: progress)
      try store.close()
    case .restore:
      try LogStore.restore(from: "/store", to: path, copying: true, host: host, progress: progress)
    case .repair:
      let report = try LogStore.salvage(from: "/store", to: path, options: options, host: host, progress: progress)
      return report.isComplete
    }
    return true
  }

  /// What stands where a copy was being made.
  enum Outcome {
    case nothing, refused, whole
  }

  /// Looks at what is left; records an issue unless it is nothing, bears the copy's mark, or is whole.
  func outcome(_ copying: Copying, on disk: SimulatedDisk, _ moment: String) throws -> Outcome {
    guard try disk.status("/copy") != nil else { return .nothing }
    let names = try disk.list("/copy").sorted()
    if names.isEmpty { return .nothing }
    guard names.contains(copying.mark) else {
      let store = try open("/copy", on: disk, readOnly: true)
      #expect(try store.contents() == expected, "\(moment)")
      #expect(try store.verify().isClean, "\(moment)")
      try store.close()
      return .whole
    }
    let refusal = StoreError.unfinishedCopy(path: "/copy", mark: copying.mark, holder: 0)
    #expect(throws: refusal, "\(moment)") { try open("/copy", on: disk) }
    #expect(throws: refusal, "\(moment)") { try open("/copy", on: disk, readOnly: true) }
    #expect(throws: refusal, "\(moment)") { try StoreInspection(at: "/copy", host: host(disk)) }
    #expect(throws: refusal, "\(moment)") {
      try LogStore.salvage(from: "/copy", to: "/other", options: Options(), host: host(disk))
    }
    #expect(throws: refusal, "\(moment)") {
      try open("/store", on: disk, readOnly: true).backup(to: "/other", reusing: "/copy")
    }
    #expect(try disk.list("/copy").sorted() == names, "\(moment)")
    #expect(try disk.status("/other") == nil, "\(moment)")
    return .refused
  }

  /// Makes the same copy again where one was interrupted, and looks that it is whole and nothing is left of the other.
  func makeAgain(_ copying: Copying, on disk: SimulatedDisk, _ moment: String) throws {
    try make(copying, on: disk)
    #expect(try disk.list("/copy").allSatisfy { !$0.hasSuffix(".unfinished") }, "\(moment)")
    #expect(try outcome(copying, on: disk, "made again: \(moment)") == .whole)
    let writer = try open("/copy", on: disk)
    try writer.put("new", forKey: "new", durability: .synced)
    try writer.close()
    // What it shares with the store was not changed.
    #expect(try open("/store", on: disk, readOnly: true).contents() == expected, "\(moment)")
  }
}
