import EskerPlatform
import EskerTestSupport

@testable import EskerLog

/// A machine for one store: a disk in memory, a clock that stands still, and no threads of the store's own.
///
/// The same calls always give the same bytes on the disk.
struct Machine {
  var disk: SimulatedDisk
  let clock: FakeClock
  var background = StoreHost.Background.inline
  /// Whether a close leaves a checkpoint although the store is small.
  var leavesCheckpoints = true
  /// Whether records take the room of dead ones.
  var reusesSpace = false
  /// Sees each call on a file or directory, and may fail it.
  var calls: FaultPlan?
  /// Sees each look of the engine at the clock.
  var watch: WatchedClock?
  /// What memory there is for files; nil for enough.
  var pageCacheRoom: Int?
  let path = "/store"

  init(capacity: Int? = nil) {
    disk = SimulatedDisk(capacity: capacity)
    clock = FakeClock()
  }

  var host: StoreHost {
    var platform = disk.platform(clock: watch ?? clock)
    if let calls { platform.fileSystem = FaultyFileSystem(disk, plan: calls) }
    platform.pageCacheRoom = { [pageCacheRoom] in pageCacheRoom }
    var host = StoreHost(platform: platform, background: background)
    host.checkpointsSmallStores = leavesCheckpoints
    host.reusesSpace = reusesSpace
    return host
  }

  /// Options with small segments and this machine's clock.
  func options(_ change: (inout Options) -> Void = { _ in }) -> Options {
    var options = Options()
    options.segmentSize = 64 << 10
    options.clock = Options.Clock(clock)
    change(&options)
    return options
  }

  /// Opens the store.
  func open(_ change: (inout Options) -> Void = { _ in }) throws(StoreError) -> LogStore {
    try LogStore(at: path, options: options(change), host: host)
  }

  /// Opens the store on the disk a killed process would leave, and makes that this machine's disk.
  mutating func reopenAfterKill(_ change: (inout Options) -> Void = { _ in }) throws -> LogStore {
    disk = try disk.processKilled()
    return try open(change)
  }

  /// Names of the store's files that end so, in order.
  func files(_ suffix: String) throws -> [String] {
    try disk.list(path).filter { $0.hasSuffix(suffix) }.sorted().map { "\(path)/\($0)" }
  }

  /// Removes the index checkpoint, as anybody may.
  func deleteCheckpoint() throws {
    for file in try files(".checkpoint") { try disk.remove(file) }
  }
}

extension Options.Clock {
  /// Follows a fake clock.
  init(_ clock: FakeClock) {
    self.init(
      now: { WallTime(millisecondsSince1970: clock.wallMilliseconds()) },
      uptimeNanoseconds: { clock.monotonicNanoseconds() }
    )
  }
}

extension Options.Verification {
  /// One of the policies, for runs that must not depend on it.
  static func any(_ generator: inout SeededGenerator) -> Options.Verification {
    [.onceInMemory, .everyRead, .openingOnly][Int.random(in: 0..<3, using: &generator)]
  }
}

/// Collects a store's events.
final class EventLog: Sendable {
  private let list = Guarded<[StoreEvent]>([])

  var events: [StoreEvent] { list.withLock { $0 } }

  func record(_ event: StoreEvent) {
    list.withLock { $0.append(event) }
  }

  var opening: Report.Opening? {
    events.lazy.compactMap { if case .opened(let report) = $0 { report } else { nil } }.last
  }

  var damage: [StoreError.Location] {
    events.compactMap { if case .damaged(let location, _) = $0 { location } else { nil } }
  }

  /// What is said of the damage.
  var damageReasons: [String] {
    events.compactMap { if case .damaged(let location, let reason) = $0 { "\(location): \(reason)" } else { nil } }
  }
}

/// Bytes of a text.
func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

extension LogStore {
  /// Everything a new snapshot shows in one keyspace.
  func contents(of keyspace: Keyspace? = nil) throws -> [[UInt8]: [UInt8]] {
    try snapshot().contents(of: keyspace?.name ?? "")
  }

  /// A whole number of the store's figures that must agree with a full recount of the records.
  func expectConsistentFigures() throws -> (live: Int, recount: Int, logged: Int, dead: Int) {
    let figures = statistics
    var recount = 0
    for entry in try snapshot() { recount += entry.length }
    let logged = figures.segments.reduce(0) { $0 + $1.recordBytes }
    return (figures.liveBytes, recount, logged, figures.deadBytes)
  }
}

extension Snapshot {
  func contents(of keyspace: String = "") throws -> [[UInt8]: [UInt8]] {
    var result: [[UInt8]: [UInt8]] = [:]
    for entry in self where entry.keyspace == keyspace { result[try entry.key()] = try entry.value() }
    return result
  }
}
