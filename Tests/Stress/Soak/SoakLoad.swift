import EskerLog
import EskerPlatform
import EskerTestSupport

/// A log and a cache of limited capacity, with everything on, in one process: values that expire, batches, removals and evictions,
/// keyspaces that come and go, merges, snapshots that are walked, a reader that follows, a feed of changes, backups, verification. Each
/// thread rests after a few operations, so that the load is the same all the time.
final class SoakLoad: Sendable {
  let directory: TemporaryDirectory
  let log: LogStore
  private let cache: LogStore
  private let follower: LogStore
  private let seed: UInt64
  private let isOver = Guarded(false)
  private let failures = Guarded<[String]>([])

  private static let keys = 50_000
  private static let cacheKeys = 20_000

  init(seed: UInt64) throws {
    directory = try TemporaryDirectory()
    self.seed = seed
    var options = Options()
    options.segmentSize = 4 << 20
    log = try LogStore(at: directory.appending("log"), options: options)
    options.readOnly = true
    follower = try LogStore(at: directory.appending("log"), options: options)
    options = Options()
    options.capacity = 64 << 20
    cache = try LogStore(at: directory.appending("cache"), options: options)
  }

  /// What has failed so far.
  var problems: [String] { failures.withLock { $0 } }

  /// Runs until `body` returns.
  func run(_ body: () throws -> Void) throws {
    let feed = Task { await self.follow() }
    let work: [(String, @Sendable (inout SeededGenerator) throws -> Void)] = [
      ("writer", write), ("writer", write), ("cache", useCache), ("reader", read), ("follower", readBehind),
      ("snapshots", walk), ("syncs", sync), ("keyspaces", changeKeyspaces), ("backups", backUp),
      ("verification", verify),
    ]
    var threads: [WorkerThread] = []
    for (number, (name, step)) in work.enumerated() {
      threads.append(
        try WorkerThread(name: name) { self.repeatedly(name, SeededGenerator(seed: self.seed &+ UInt64(number)), step) }
      )
    }
    defer {
      isOver.withLock { $0 = true }
      for thread in threads { thread.join() }
      feed.cancel()
    }
    try body()
  }

  func close() throws {
    try follower.close()
    try log.close()
    try cache.close()
  }

  private var goesOn: Bool { !isOver.withLock { $0 } }

  private func repeatedly(
    _ name: String,
    _ generator: SeededGenerator,
    _ step: (inout SeededGenerator) throws -> Void
  ) {
    var random = generator
    while goesOn {
      do { try step(&random) } catch {
        failures.withLock { if $0.count < 10 { $0.append("\(name): \(error)") } }
        return
      }
    }
  }

  /// Waits, but not beyond the end.
  private func rest(milliseconds: Int) {
    for _ in 0..<max(1, milliseconds / 10) where goesOn { pauseThread(microseconds: min(milliseconds, 10) * 1000) }
  }

  private func key(_ random: inout SeededGenerator) -> [UInt8] {
    Array("key \(Int.random(in: 0..<Self.keys, using: &random))".utf8)
  }

  private func value(_ lengths: Range<Int>, _ random: inout SeededGenerator) -> [UInt8] {
    [UInt8](repeating: UInt8.random(in: 0...255, using: &random), count: Int.random(in: lengths, using: &random))
  }

  private func write(_ random: inout SeededGenerator) throws {
    for _ in 0..<8 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0:
        let expiry = Expiry.after(.milliseconds(Int.random(in: 1000..<30_000, using: &random)))
        try log.put(value(50..<1000, &random), forKey: key(&random), expiry: expiry)
      case 1: try log.remove(key(&random))
      case 2:
        try log.write { (batch) throws(StoreError) in
          for _ in 0..<10 { try batch.put(value(50..<200, &random), forKey: key(&random)) }
        }
      default: try log.put(value(50..<1000, &random), forKey: key(&random))
      }
    }
    pauseThread(microseconds: 1000)
  }

  /// Some keys are asked for more often than others; what is absent is put.
  private func useCache(_ random: inout SeededGenerator) throws {
    for _ in 0..<4 {
      let share = Double.random(in: 0..<1, using: &random)
      let key = Array("image \(Int(share * share * share * Double(Self.cacheKeys)))".utf8)
      if try cache.get(key) == nil { try cache.put(value(1000..<30_000, &random), forKey: key) }
    }
    pauseThread(microseconds: 1000)
  }

  private func read(_ random: inout SeededGenerator) throws {
    for _ in 0..<16 { _ = try log.get(key(&random)) }
    _ = try log.entries(in: .from(key(&random)), limit: 20)
    pauseThread(microseconds: 1000)
  }

  private func readBehind(_ random: inout SeededGenerator) throws {
    try follower.refresh()
    for _ in 0..<100 { _ = try follower.get(key(&random)) }
    rest(milliseconds: 20)
  }

  private func walk(_ random: inout SeededGenerator) throws {
    let snapshot = try log.snapshot()
    var bytes = 0
    for entry in snapshot { bytes += try entry.value().count }
    rest(milliseconds: 1000)
  }

  private func sync(_ random: inout SeededGenerator) throws {
    try log.sync()
    rest(milliseconds: 1000)
  }

  private func changeKeyspaces(_ random: inout SeededGenerator) throws {
    let name = "space \(Int.random(in: 0..<8, using: &random))"
    let space = try log.keyspace(name)
    for _ in 0..<200 { try space.put(value(50..<200, &random), forKey: key(&random)) }
    if random.oneIn(2) { try space.removeAll() } else { try log.removeKeyspace(name) }
    rest(milliseconds: 2000)
  }

  private func backUp(_ random: inout SeededGenerator) throws {
    rest(milliseconds: 20_000)
    guard goesOn else { return }
    let path = directory.appending("backup")
    _ = try log.backup(to: path)
    TemporaryDirectory.removeTree(path)
  }

  private func verify(_ random: inout SeededGenerator) throws {
    rest(milliseconds: 30_000)
    guard goesOn else { return }
    for store in [log, cache] {
      let report = try store.verify()
      if !report.isClean { failures.withLock { $0.append("damage: \(report.damage)") } }
    }
  }

  private func follow() async {
    while !Task.isCancelled {
      do {
        for try await _ in log.changes(since: log.lastSequence, includingUnsynced: true) where Task.isCancelled {
          break
        }
      } catch StoreError.historyGone {
        // It was slower than merges: it begins anew.
      } catch {
        failures.withLock { if !Task.isCancelled { $0.append("changes: \(error)") } }
        return
      }
    }
  }
}
