import EskerRedis
import EskerRemote
import EskerRemoteTestSupport
import EskerTestSupport
import Foundation
import Logging
import Synchronization

/// Rounds of tests with a fault in each. Thorough ones have longer faults, too.
let rounds = Rounds.count(1, thorough: 2)

/// Rounds of tests under chaos.
let chaosRounds = Rounds.count(3, thorough: 6)

private let nextWrite = Atomic<UInt64>(1)

/// A client with what it tells.
struct TestClient {
  let store: RedisStore
  let sink = Recorder()

  init(cluster: TestCluster, prefix: String = "t:", _ change: (inout RedisConfiguration) -> Void = { _ in })
    async throws
  {
    var configuration = RedisConfiguration(
      cluster.members.map { .init("127.0.0.1", port: $0.proxy.port) },
      logger: Self.logger
    )
    change(&configuration)
    store = try RedisCluster(configuration)
    try await store.start(prefix: Array(prefix.utf8), sink: sink)
  }

  init(server port: Int, prefix: String = "t:", _ change: (inout RedisConfiguration) -> Void = { _ in }) async throws {
    var configuration = RedisConfiguration([.init("127.0.0.1", port: port)], logger: Self.logger)
    change(&configuration)
    store = try RedisServer(configuration)
    try await store.start(prefix: Array(prefix.utf8), sink: sink)
  }

  static var logger: Logger {
    var logger = Logger(label: "esker.redis") { StreamLogHandler.standardError(label: $0) }
    logger.logLevel =
      ProcessInfo.processInfo.environment["ESKER_REDIS_LOG"].flatMap { Logger.Level(rawValue: $0) } ?? .critical
    return logger
  }

  func key(_ text: String) -> RemoteKey { store.key(Array(text.utf8)) }

  /// Some value with a version of its own.
  static func value(_ text: String, expiry: UInt64 = 0) -> RemoteValue { value(Array(text.utf8), expiry: expiry) }

  static func value(_ bytes: [UInt8], expiry: UInt64 = 0) -> RemoteValue {
    let number = nextWrite.wrappingAdd(1, ordering: .relaxed).newValue
    let version = RemoteVersion(time: 1_700_000_000_000 + number, count: 0, writer: 7)
    return RemoteValue(RemoteEnvelope(version: version, expiry: expiry), payload: ContiguousArray(bytes).span.bytes)
  }

  static func write() -> RemoteWriteID { RemoteWriteID(nextWrite.wrappingAdd(1, ordering: .relaxed).newValue) }

  static func soon(_ duration: Duration = .seconds(20)) -> RemoteInstant { RemoteInstant.now.advanced(by: duration) }

  func get(_ text: String, by deadline: RemoteInstant = soon()) async throws(RemoteError) -> RemoteValue? {
    try await store.get(key(text), by: deadline).reply
  }

  @discardableResult
  func set(_ text: String, _ value: RemoteValue, by deadline: RemoteInstant = soon()) async throws(RemoteError)
    -> RemoteWritten
  {
    try await store.set(key(text), value, as: Self.write(), by: deadline).reply
  }

  /// Waits until something was noted.
  func until(
    _ what: String,
    within limit: Duration = .seconds(30),
    _ condition: () async throws -> Bool
  ) async throws {
    let end = ContinuousClock.now + limit
    while try await !condition() {
      guard ContinuousClock.now < end else { throw TestFailure("not within \(limit): \(what)") }
      try await Task.sleep(for: .milliseconds(2))
    }
  }
}

extension TestClient {
  func write(
    _ key: RemoteKey,
    _ value: RemoteValue,
    _ write: RemoteWriteID,
    _ limit: Duration
  ) async -> Result<RemoteWritten, RemoteError> {
    do { return .success(try await store.set(key, value, as: write, by: Self.soon(limit)).reply) } catch {
      return .failure(error)
    }
  }
}

/// Counts from many threads.
final class Counts: Sendable {
  func add(refused: Int = 0, other: Int = 0) {
    if refused > 0 { refusedCount.wrappingAdd(refused, ordering: .relaxed) }
    if other > 0 { otherCount.wrappingAdd(other, ordering: .relaxed) }
  }

  private let refusedCount = Atomic<Int>(0)
  private let otherCount = Atomic<Int>(0)

  var refused: Int { refusedCount.load(ordering: .relaxed) }
  var total: Int { refused + otherCount.load(ordering: .relaxed) }
}
