import Esker
import EskerRedis
import EskerRemote
import Foundation
import Logging

/// A process that queues writes until it is killed, and says on standard output what was acknowledged:
///
///     esker-queue-writer write LOG FIRST-NUMBER PORT...
///     esker-queue-writer drain LOG FIRST-NUMBER PORT...
///
/// With several ports they are nodes of a cluster. Lines: `up` once a write has arrived, `set KEY NUMBER` and `remove KEY NUMBER`
/// for what was acknowledged, and the same behind `begin` before each, so that what a kill leaves open is known. The second form
/// writes nothing: it prints `lost KEY WHAT` for each loss, and `applied NUMBER` once nothing waits any more.
@main
enum QueueWriter {
  static let keys = 40

  static func main() async {
    do { try await run(Array(CommandLine.arguments.dropFirst())) } catch {
      say("failed \(error)")
      exit(1)
    }
  }

  /// A line, at once.
  private static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

  private static func run(_ arguments: [String]) async throws {
    let (mode, path, first) = (arguments[0], arguments[1], Int(arguments[2]) ?? 0)
    let ports = arguments.dropFirst(3).compactMap { Int($0) }
    let log = try LogStore(at: path)
    var logger = Logger(label: "esker.redis") { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = .critical
    var configuration = RedisConfiguration(ports.map { .init("127.0.0.1", port: $0) }, logger: logger)
    configuration.startTimeout = .milliseconds(200)
    let store: RedisStore = ports.count > 1 ? try RedisCluster(configuration) : try RedisServer(configuration)
    let tiers = RemoteTiers(store, named: "tests", prefix: "q:")
    var options = RemoteOptions()
    var queue = RemoteQueueOptions()
    queue.greatestPause = .milliseconds(200)
    options.queue = queue
    let numbers = try tiers.storage("numbers", key: Int.self, of: Int.self, log: log, options: options)
    // What cannot be reached now is tried again in the background.
    let start = Task {
      try? await tiers.start()
      while numbers.queueStatistics?.applied == 0 { try await Task.sleep(for: .milliseconds(10)) }
      say("up")
    }
    if mode == "write" { try await write(to: numbers, from: first) }
    let losses = Task {
      for await case .lost(let key, let loss) in numbers.changes() { say("lost \(key) \(loss)") }
    }
    try await numbers.queueDrained()
    try await Task.sleep(for: .milliseconds(100))
    losses.cancel()
    await losses.value
    let statistics = numbers.queueStatistics ?? RemoteQueueStatistics()
    say("applied \(statistics.applied) superseded \(statistics.superseded) failed \(statistics.failed)")
    start.cancel()
    await tiers.stop()
    try log.close()
  }

  /// Until the process is killed. Numbers grow, so that the last acknowledged one of a key is the greatest.
  private static func write(to numbers: RemoteStorage<Int, Int>, from first: Int) async throws {
    for number in first... {
      let key = Int.random(in: 0..<keys)
      let isSet = number % 9 != 8
      let write = "\(isSet ? "set" : "remove") \(key) \(number)"
      say("begin \(write)")
      if isSet {
        try await numbers.async.set(number, forKey: key)
      } else {
        try await numbers.async.removeValue(forKey: key)
      }
      say(write)
      if number % 4 == 0 { try await Task.sleep(for: .milliseconds(2)) }
      // Whoever was to kill it is gone.
      if getppid() == 1 { return }
    }
  }
}
