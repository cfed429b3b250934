import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// A store on a simulated disk whose calls can be made to fail.
final class FaultBench: @unchecked Sendable {
  var disk: SimulatedDisk
  private(set) var plan = FaultPlan()
  let clock = FakeClock()
  let path = "/store"
  private let killed = Guarded<SimulatedDisk?>(nil)
  let events = Guarded<[StoreEvent]>([])

  init(capacity: Int? = nil) {
    disk = SimulatedDisk(capacity: capacity)
  }

  func open(seed: UInt64 = 1, _ change: (inout Options) -> Void = { _ in }) throws(StoreError) -> LogStore {
    var options = Options()
    options.segmentSize = 64 << 10
    options.clock = .fake(clock)
    options.onEvent = { [unowned self] event in events.withLock { $0.append(event) } }
    change(&options)
    let platform = Platform.simulated(fileSystem: FaultyFileSystem(disk, plan: plan), clock: clock, seed: seed)
    return try LogStore(at: path, options: options, host: StoreHost(platform: platform, background: .inline))
  }

  /// The process ends, and with it every fault; the kernel's cache stays.
  func killProcess() throws {
    disk = try disk.processKilled()
    plan = FaultPlan()
  }

  /// Notes the disk as a kill leaves it that comes just before the next such call; `takeKilled` goes on from there.
  func killProcess(before operation: FaultOperation, of name: String) {
    plan.onCall { [unowned self] call in
      guard call.operation == operation, call.path == "\(path)/\(name)" else { return }
      killed.withLock { killed in
        if killed == nil { killed = try? disk.processKilled() }
      }
    }
  }

  /// Goes on with the disk that `killProcess(before:of:)` noted.
  func takeKilled() throws {
    disk = try #require(killed.withLock { $0 })
    plan = FaultPlan()
  }

  /// Power fails.
  func cutPower(_ policy: CrashPolicy = .drop, seed: UInt64 = 1) throws {
    var generator = SeededGenerator(seed: seed)
    disk = try disk.crashImage(policy, using: &generator)
    plan = FaultPlan()
  }

  func forgetEvents() { events.withLock { $0 = [] } }

  var reported: [StoreEvent] { events.withLock { $0 } }

  /// Events that say that something is broken.
  var damage: [StoreEvent] {
    reported.filter {
      if case .damaged = $0 { true } else { false }
    }
  }

  /// The last cut that was reported.
  var cut: Report.Cut? {
    reported.compactMap { if case .cut(let cut) = $0 { cut } else { nil } }.last
  }

  var names: [String] { get throws { try disk.list(path).sorted() } }

  // MARK: Bytes on the disk

  func bytes(_ name: String) throws -> [UInt8] {
    let file = try disk.open("\(path)/\(name)", .read)
    defer { file.close() }
    return try file.allBytes()
  }

  func write(_ bytes: [UInt8], to name: String) throws {
    let exists = try disk.status("\(path)/\(name)") != nil
    let file = try disk.open("\(path)/\(name)", exists ? .readWrite : .create)
    defer { file.close() }
    try file.truncate(0)
    try file.writeAll(bytes, at: 0)
    try file.sync()
    try disk.syncDirectory(path)
  }

  func change(_ name: String, at offset: Int) throws {
    var bytes = try bytes(name)
    bytes[offset] ^= 0x40
    try write(bytes, to: name)
  }

  func remove(_ name: String) throws {
    try disk.remove("\(path)/\(name)")
    try disk.syncDirectory(path)
  }
}

extension StoreError {
  var isSyncFailure: Bool {
    if case .syncFailed = self { true } else { false }
  }
}
