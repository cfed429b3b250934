import EskerPlatform
import EskerTestSupport

@testable import EskerLog

/// A writer and a read-only store beside it on one simulated disk, with hooks between the reader's looks at the files.
///
/// A call of the reader's is a place where another process may do anything: the hook does it there, so that what a live pair
/// meets once in thousands of runs happens each time.
final class ReaderBench: @unchecked Sendable {
  var disk: SimulatedDisk
  let clock = FakeClock()
  let path = "/store"
  /// What the reader's calls go through.
  let plan = FaultPlan()
  let events = EventLog()
  private let armed = Guarded<Bool>(false)
  private let problems = Guarded<[any Error]>([])

  init(capacity: Int? = nil) {
    disk = SimulatedDisk(capacity: capacity)
  }

  func options(_ change: (inout Options) -> Void = { _ in }) -> Options {
    var options = Options()
    options.segmentSize = 64 << 10
    options.clock = Options.Clock(clock)
    options.merge.isAutomatic = false
    change(&options)
    return options
  }

  func openWriter(
    _ change: (inout Options) -> Void = { _ in },
    over plan: FaultPlan? = nil,
    onPublish: (@Sendable () -> Void)? = nil
  ) throws(StoreError) -> LogStore {
    let fileSystem: any FileSystem = plan.map { FaultyFileSystem(disk, plan: $0) } ?? disk
    let platform = Platform.simulated(fileSystem: fileSystem, clock: clock, seed: 1)
    return try LogStore(
      at: path,
      options: options(change),
      host: StoreHost(platform: platform, background: .inline, onPublish: onPublish)
    )
  }

  func openReader(_ change: (inout Options) -> Void = { _ in }) throws(StoreError) -> LogStore {
    let platform = Platform.simulated(fileSystem: FaultyFileSystem(disk, plan: plan), clock: clock, seed: 2)
    let events = events
    let options = options {
      $0.readOnly = true
      $0.onEvent = { events.record($0) }
      change(&$0)
    }
    return try LogStore(at: path, options: options, host: StoreHost(platform: platform, background: .inline))
  }

  /// Does `body` once, right before the `nth` call of the reader's that matches.
  func before(
    _ operation: FaultOperation,
    of suffix: String,
    nth: Int = 1,
    _ body: @escaping @Sendable () throws -> Void
  ) {
    armed.withLock { $0 = true }
    let count = SharedCounter()
    plan.onCall { [unowned self] call in
      guard call.operation == operation, call.path.hasSuffix(suffix), count.add() == nth else { return }
      armed.withLock { $0 = false }
      do { try body() } catch { problems.withLock { $0.append(error) } }
    }
  }

  /// Whether the hook has run, without an error.
  var hasRun: Bool { !armed.withLock { $0 } && problems.withLock { $0.isEmpty } }

  /// Says what the hook threw.
  var failures: [String] { problems.withLock { $0.map { "\($0)" } } }
}

extension LogStore {
  /// Writes one value to several keys, as a batch.
  func putBatch(_ value: String, _ keys: some Sequence<String>) throws {
    try write { (batch) throws(StoreError) in
      for key in keys { try batch.put(value, forKey: key) }
    }
  }

  func text(_ key: String) throws -> String? {
    try get(key).map { String(decoding: $0, as: UTF8.self) }
  }

  func fill(_ count: Int, length: Int = 1000, from first: Int = 0) throws {
    for number in first..<first + count { try put([UInt8](repeating: 1, count: length), forKey: "fill \(number)") }
  }

  /// The segments that are full, oldest first.
  var sealedIDs: [UInt64] { statistics.segments.filter(\.isSealed).map(\.id) }
}
