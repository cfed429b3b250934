import Esker
import EskerLog
import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerRemote

/// A process with a log of its own and a queue in it, which can be killed and started again.
final class QueueProcess: @unchecked Sendable {
  let server: TinyServer
  let directory: TemporaryDirectory
  var options: RemoteOptions
  let faults: PlantedFaults
  /// What fails of the log's files.
  let plan = FaultPlan()
  private(set) var log: LogStore
  private(set) var store: TinyStore
  private(set) var tiers: RemoteTiers
  private(set) var texts: RemoteStorage<String, String>

  /// - Parameter isAway: whether the remote store cannot be reached at first.
  init(
    _ server: TinyServer,
    _ faults: PlantedFaults = [],
    isAway: Bool = false,
    _ change: (inout RemoteQueueOptions) -> Void = { _ in }
  ) async throws {
    self.server = server
    self.faults = faults
    directory = try TemporaryDirectory()
    options = RemoteOptions()
    // Nothing here is about a time that passes, and beside many other tests five seconds do.
    options.hardTimeout = .seconds(600)
    var queue = RemoteQueueOptions()
    change(&queue)
    options.queue = queue
    (log, store, tiers, texts) = try await Self.begin(server, directory, plan, options, faults, isAway: isAway)
  }

  private static func begin(
    _ server: TinyServer,
    _ directory: TemporaryDirectory,
    _ plan: FaultPlan,
    _ options: RemoteOptions,
    _ faults: PlantedFaults,
    isAway: Bool
  ) async throws -> (LogStore, TinyStore, RemoteTiers, RemoteStorage<String, String>) {
    var host = StoreHost.system
    host.platform.fileSystem = FaultyFileSystem(host.platform.fileSystem, plan: plan)
    let log = try LogStore(at: directory.appending("log"), options: Options(), host: host)
    let store = server.store()
    let tiers = RemoteTiers(store, named: "test", prefix: "p:", 1_024, .system, faults: faults) { [server] in server.now
    }
    if isAway {
      server.loop.sync { store.sink = tiers.core }
      store.raise()
    } else {
      try await tiers.start()
    }
    return (log, store, tiers, try tiers.storage("texts", log: log, options: options))
  }

  var queue: RemoteQueue {
    guard let queue = tiers.queue("texts") else { preconditionFailure("it has one") }
    return queue
  }

  var statistics: RemoteQueueStatistics { texts.queueStatistics ?? RemoteQueueStatistics() }

  /// The remote store cannot be reached any more.
  func lose() { store.suspend() }

  /// It is back.
  func find() { store.trust(for: .seconds(1_000_000)) }

  /// As `kill -9`: the log is as it is, and nothing more comes of what was under way.
  func kill(losingRequests: Bool = true) throws {
    try log.close()
    queue.halt()
    server.kill(store, losingRequests: losingRequests)
  }

  func start(isAway: Bool = false) async throws {
    (log, store, tiers, texts) = try await Self.begin(server, directory, plan, options, faults, isAway: isAway)
  }

  /// Waits until nothing is queued, with rests that are over at once.
  func drain() async throws {
    let isEmpty = try await eventually {
      server.clock.advance(milliseconds: 50)
      queue.pump()
      return statistics.count == 0
    }
    #expect(isEmpty)
  }

  /// What was lost, once `count` were told.
  func losses(_ count: Int) async -> [RemoteChange<String>] {
    var losses: [RemoteChange<String>] = []
    for await change in texts.changes() {
      if case .lost = change { losses.append(change) }
      if losses.count == count { break }
    }
    return losses
  }
}

extension TinyServer {
  /// A value of another process, written now.
  func foreignWrite(_ text: String, _ key: String) throws {
    let version = RemoteVersion(time: UInt64(clock.wallMilliseconds()), count: 0, writer: 99)
    let payload = try Transformer<String>.standard.encode(text)
    put(payload.withBytes { RemoteValue(RemoteEnvelope(version: version), payload: $0) }, key)
  }

  func text(_ key: String) throws -> String? {
    try value(key).map { try Array($0.payload).withBytes { try Transformer<String>.standard.decode($0) } }
  }
}
