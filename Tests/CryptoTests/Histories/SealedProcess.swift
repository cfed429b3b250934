import Esker
import EskerCrypto
import EskerLog
import EskerPlatform
import EskerTestSupport

/// A process that has a store open, and sealed storages in it, with keys that it has read when it began.
struct SealedProcess {
  static let spaces = ["letters", "ordered", ""]

  let store: LogStore
  let keys: KeyRing
  /// One for each of `spaces`.
  let storages: [Storage<String, String>]

  /// - Parameter keys: their text, as a file would have it; nil for storages that seal nothing.
  init(_ store: LogStore, keys text: String?) throws {
    self.store = store
    keys = try text.map { try KeyRing(text: $0) } ?? KeyRing(id: 1)
    storages = try Self.spaces.enumerated().map { [keys] number, name in
      var form = Transformer<String>.utf8
      if number == 1, text != nil { form = form.then(.lz4) }
      if text != nil { form = form.sealed(with: keys) }
      return try store.storage(keyspace: name, keys: String.keyTransformer, values: form)
    }
  }
}

/// How a store is opened, and on what.
struct SealedBench {
  var disk: SimulatedDisk
  let clock: FakeClock
  var options = Options()
  var reusesSpace = false
  var leavesCheckpoints = false
  var isSealed = true

  init(_ disk: SimulatedDisk = SimulatedDisk(), clock: FakeClock = FakeClock()) {
    self.disk = disk
    self.clock = clock
    options.segmentSize = 64 << 10
    options.clock = Options.Clock(
      now: { WallTime(millisecondsSince1970: clock.wallMilliseconds()) },
      uptimeNanoseconds: { clock.monotonicNanoseconds() }
    )
  }

  /// A bench of all the same but the disk.
  func on(_ disk: SimulatedDisk) -> SealedBench {
    var other = self
    other.disk = disk
    return other
  }

  func host(_ plan: FaultPlan? = nil) -> StoreHost {
    var platform = disk.platform(clock: clock)
    if let plan { platform.fileSystem = FaultyFileSystem(disk, plan: plan) }
    var host = StoreHost(platform: platform, background: .inline)
    host.checkpointsSmallStores = leavesCheckpoints
    host.reusesSpace = reusesSpace
    return host
  }

  func start(
    _ keys: String,
    at path: String = "/store",
    _ plan: FaultPlan? = nil,
    readOnly: Bool = false,
    onPublish: (@Sendable () -> Void)? = nil
  ) throws -> SealedProcess {
    var options = options
    options.readOnly = readOnly
    var host = host(plan)
    host.onPublish = onPublish
    return try SealedProcess(LogStore(at: path, options: options, host: host), keys: isSealed ? keys : nil)
  }

  /// The bytes of all files of a directory; none if a crash has left none.
  func files(in directory: String = "/store") throws -> [(name: String, bytes: [UInt8])] {
    guard try disk.status(directory) != nil else { return [] }
    return try disk.list(directory).sorted().map { name in
      let file = try disk.open("\(directory)/\(name)", .read)
      defer { file.close() }
      var bytes = [UInt8](repeating: 0, count: try file.status().size)
      let count = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
      guard count == bytes.count else { throw PlatformError("read", path: name, code: PlatformError.inputOutput) }
      return (name, bytes)
    }
  }
}
