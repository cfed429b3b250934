import EskerRedis
import EskerRemote
import Foundation
import Logging
import Synchronization

/// The client that the arguments ask for: `ports` of a cluster's nodes, or the `port` of a single server.
func client(_ arguments: Arguments) throws -> RedisStore {
  var logger = Logger(label: "process") { StreamLogHandler.standardError(label: $0) }
  logger.logLevel =
    ProcessInfo.processInfo.environment["ESKER_REDIS_LOG"].flatMap { Logger.Level(rawValue: $0) } ?? .critical
  func addresses(_ ports: String) -> [RedisConfiguration.Address] {
    ports.split(separator: ",").compactMap { Int($0) }.map { .init("127.0.0.1", port: $0) }
  }
  if let ports = arguments.optional("ports") {
    return try RedisCluster(RedisConfiguration(addresses(ports), logger: logger))
  }
  return try RedisServer(RedisConfiguration(addresses(arguments.text("port")), logger: logger))
}

/// Writes a line to standard output.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

/// A number that many tasks count with.
final class Counter: Sendable {
  private let count = Atomic(0)
  var value: Int { count.load(ordering: .relaxed) }

  /// Counts one more; how many there were before.
  @discardableResult
  func next() -> Int { count.wrappingAdd(1, ordering: .relaxed).oldValue }
}

/// Microseconds since 1970: processes of one machine, and its servers, can compare them.
func now() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_REALTIME, &time)
  return time.tv_sec * 1_000_000 + time.tv_nsec / 1_000
}

/// Waits, on a thread of its own, until standard input ends.
func endOfInput() async {
  await withCheckedContinuation { continuation in
    Thread.detachNewThread {
      var byte: UInt8 = 0
      while read(0, &byte, 1) > 0 {}
      continuation.resume()
    }
  }
}
