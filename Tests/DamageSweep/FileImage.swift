import EskerLog
import EskerPlatform
import EskerTestSupport

/// The bytes of a store's files, to be damaged and put on disks.
struct FileImage: Sendable {
  static let directory = "/store"

  var files: [String: [UInt8]] = [:]

  /// The names of the files, in order.
  var names: [String] { files.keys.sorted() }

  init(of disk: SimulatedDisk) throws {
    for name in try disk.list(Self.directory) {
      let file = try disk.open("\(Self.directory)/\(name)", .read)
      let size = try file.status().size
      var bytes = [UInt8](repeating: 0, count: size)
      _ = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
      files[name] = bytes
    }
  }

  /// A disk that holds these files and nothing else.
  func disk() throws -> SimulatedDisk {
    let disk = SimulatedDisk()
    try disk.createDirectory(Self.directory)
    for name in names {
      let file = try disk.open("\(Self.directory)/\(name)", .create)
      if let bytes = files[name], !bytes.isEmpty { try bytes.withUnsafeBytes { try file.write($0, at: 0) } }
    }
    return disk
  }
}

/// A disk with a clock that stands still, on which stores are opened without threads of their own: the same calls always
/// have the same outcome.
struct Bench {
  let disk: SimulatedDisk
  let clock: FakeClock
  /// While it is raised, full segments are not sealed.
  let isFooterless = Flag()
  var seed: UInt64 = 1

  init(_ disk: SimulatedDisk = SimulatedDisk(), clock: FakeClock = FakeClock(), seed: UInt64 = 1) {
    self.disk = disk
    self.clock = clock
    self.seed = seed
  }

  var host: StoreHost {
    let fileSystem = FooterlessFileSystem(base: disk, isFooterless: isFooterless)
    let platform = Platform.simulated(fileSystem: fileSystem, clock: clock, seed: seed)
    return StoreHost(platform: platform, background: .inline)
  }

  /// Options with segments as small as they can be.
  func options(_ events: EventLog? = nil, _ change: (inout Options) -> Void = { _ in }) -> Options {
    var options = Options()
    options.segmentSize = 64 << 10
    let clock = clock
    options.clock = Options.Clock(
      now: { WallTime(millisecondsSince1970: clock.wallMilliseconds()) },
      uptimeNanoseconds: { clock.monotonicNanoseconds() }
    )
    if let events { options.onEvent = { events.record($0) } }
    change(&options)
    return options
  }

  func open(
    _ path: String = FileImage.directory,
    events: EventLog? = nil,
    _ change: (inout Options) -> Void = { _ in }
  ) throws(StoreError) -> LogStore {
    try LogStore(at: path, options: options(events, change), host: host)
  }
}

/// What a store had to say.
final class EventLog: Sendable {
  private let list = Guarded<[StoreEvent]>([])

  func record(_ event: StoreEvent) { list.withLock { $0.append(event) } }

  var all: [StoreEvent] { list.withLock { $0 } }

  /// Whether it told of damage.
  var toldOfDamage: Bool {
    all.contains { event in
      if case .damaged = event { return true }
      // What a merge or a seal cannot read is told so.
      if case .backgroundFailure(_, .damaged) = event { return true }
      return false
    }
  }

  /// Whether it told that history was cut off somewhere.
  var toldOfCut: Bool { all.contains { if case .cut = $0 { true } else { false } } }
}
