import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

#if os(Linux)
  import Foundation
  import Glibc
#endif

/// What a write that throws says of itself, against what is there after the next opening.
@Suite struct FailedWriteTests {
  /// The ways to write.
  enum Write: String, CaseIterable {
    case put, putIfAbsent, compareAndSet, update, increment, append, touch, sliding
    case remove, removeIfVersion, batch, removeAll

    func perform(on store: LogStore, durability: Durability) throws(StoreError) {
      switch self {
      case .put: try store.put("new", forKey: "key", durability: durability)
      case .putIfAbsent: try store.putIfAbsent("new", forKey: "other", durability: durability)
      case .compareAndSet: try store.compareAndSet("new", forKey: "key", ifValue: bytes("old"), durability: durability)
      case .update:
        try store.update(forKey: "key", durability: durability) { (_) throws(StoreError) in .put(bytes("new")) }
      case .increment: try store.increment("counter", durability: durability)
      case .append: try store.append("new", toKey: "key", durability: durability)
      case .touch: try store.touch("key", expiry: .after(.seconds(1000)), durability: durability)
      case .sliding: _ = try store.get("key", extendingBy: .seconds(1000), durability: durability)
      case .remove: try store.remove("key", durability: durability)
      case .removeIfVersion:
        guard let version = try store.metadata(forKey: "key")?.version else { return }
        try store.remove("key", ifVersion: version, durability: durability)
      case .batch:
        try store.write(durability: durability) { (batch) throws(StoreError) in
          try batch.put("new", forKey: "key")
          try batch.put("new", forKey: "other")
          try batch.remove("counter")
        }
      case .removeAll: try store.removeAll(durability: durability)
      }
    }

    /// Whether its record is written by a call of its own when it is to be synced.
    var isCall: Bool {
      switch self {
      case .remove, .removeIfVersion, .batch, .removeAll: false
      default: true
      }
    }
  }

  /// All that can be told of the store by its keys.
  private struct State: Equatable {
    var entries: [[UInt8]: [UInt8]]
    var expiries: [String: Expiry]

    init(_ store: LogStore) throws {
      entries = try store.contents()
      expiries = [:]
      for key in ["key", "other", "counter"] {
        if let metadata = try store.metadata(forKey: key) { expiries[key] = metadata.expiry }
      }
    }
  }

  private static func prepared(_ bench: FaultBench) throws -> LogStore {
    let store = try bench.open()
    try store.put("old", forKey: "key", expiry: .after(.seconds(10)))
    try store.increment("counter", by: 7)
    // What is written from here on is in another page.
    try store.put([UInt8](repeating: 1, count: 5000), forKey: "filler")
    try store.sync()
    return store
  }

  /// The state that the write leads to when nothing fails.
  private static func after(_ write: Write) throws -> State {
    let bench = FaultBench()
    let store = try prepared(bench)
    defer { store.probe.kill() }
    try write.perform(on: store, durability: .synced)
    return try State(store)
  }

  /// What an opening shows.
  private static func stateFound(on bench: FaultBench) throws -> State {
    let store = try bench.open(seed: 2)
    defer { store.probe.kill() }
    return try State(store)
  }

  /// Checks that the store refuses what comes now, without effect.
  private static func expectStopped(_ store: LogStore, _ code: Int32) throws {
    #expect(throws: StoreError.syncFailed(errno: code)) { try store.put("later", forKey: "later") }
    #expect(throws: StoreError.syncFailed(errno: code)) { try store.remove("key", durability: .synced) }
    #expect(throws: StoreError.syncFailed(errno: code)) { try store.removeAll() }
    #expect(throws: StoreError.syncFailed(errno: code)) {
      try store.write(durability: .synced) { (batch) throws(StoreError) in try batch.put("later", forKey: "later") }
    }
  }

  @Test(arguments: Write.allCases.filter(\.isCall), [PlatformError.inputOutput, PlatformError.noSpace])
  func aRecordWhoseCallFailedMayBeThere(_ write: Write, _ code: Int32) throws {
    let after = try Self.after(write)
    for count in [0, 9, 33, .max] {
      let bench = FaultBench()
      let store = try Self.prepared(bench)
      let before = try State(store)
      bench.plan.fail(.write, on: .suffix(".segment"), .partial(bytes: count, code: code))
      #expect(throws: StoreError.outcomeUnknown(errno: code), "\(count) bytes") {
        try write.perform(on: store, durability: .synced)
      }
      try Self.expectStopped(store, code)
      store.probe.kill()
      try bench.killProcess()
      // Part of a record is none.
      #expect(try Self.stateFound(on: bench) == (count == .max ? after : before), "\(count) bytes")
    }
  }

  @Test(arguments: Write.allCases, [false, true])
  func aRecordWhoseSyncFailedMayBeThere(_ write: Write, marksPagesClean: Bool) throws {
    let after = try Self.after(write)
    let bench = FaultBench()
    let store = try Self.prepared(bench)
    let before = try State(store)
    bench.plan.fail(.sync, on: .suffix(".segment"), .failedSync(code: 5, marksPagesClean: marksPagesClean))
    #expect(throws: StoreError.outcomeUnknown(errno: 5)) { try write.perform(on: store, durability: .synced) }
    #expect(try State(store) == after)
    try Self.expectStopped(store, 5)
    store.probe.kill()
    let disk = bench.disk
    try bench.killProcess()
    #expect(try Self.stateFound(on: bench) == after)
    bench.disk = disk
    try bench.cutPower(.drop)
    #expect(try Self.stateFound(on: bench) == before)
  }

  @Test(arguments: Write.allCases)
  func aRecordBeyondWhereTheTailWasCutMayBeThere(_ write: Write) throws {
    let after = try Self.after(write)
    let bench = FaultBench()
    let store = try Self.prepared(bench)
    let before = try State(store)
    let tail = try #require(bench.names.first { $0.hasSuffix(".segment") })
    let file = try bench.disk.open("/store/\(tail)", .readWrite)
    try file.truncate(4096)
    #expect(throws: StoreError.outcomeUnknown(errno: PlatformError.inputOutput)) {
      try write.perform(on: store, durability: .buffered)
    }
    try Self.expectStopped(store, PlatformError.inputOutput)
    store.probe.kill()
    try bench.killProcess()
    let reopened = try bench.open(seed: 2)
    defer { reopened.probe.kill() }
    for key in ["key", "other", "counter"] {
      let found = try reopened.get(key)
      #expect(found == before.entries[bytes(key)] || found == after.entries[bytes(key)], "\(key)")
    }
  }

  @Test func aTaskHearsTheSame() async throws {
    for call in 0..<4 {
      let bench = FaultBench()
      let store = try Self.prepared(bench)
      bench.plan.fail(.sync, on: .suffix(".segment"), .error(5))
      await #expect(throws: StoreError.outcomeUnknown(errno: 5)) {
        switch call {
        case 0: _ = try await store.async.put("new", forKey: "key", durability: .synced)
        case 1: _ = try await store.async.remove("key", durability: .synced)
        case 2:
          _ = try await store.async.update(forKey: "key", durability: .synced) { (_) throws(StoreError) in
            .put(bytes("new"))
          }
        default:
          try await store.async.write(durability: .synced) { (batch) throws(StoreError) in
            try batch.put("new", forKey: "key")
          }
        }
      }
      await #expect(throws: StoreError.syncFailed(errno: 5)) { try await store.async.sync() }
      await #expect(throws: StoreError.syncFailed(errno: 5)) {
        _ = try await store.async.put("later", forKey: "later", durability: .synced)
      }
      store.probe.kill()
    }
  }

  @Test(arguments: [PlatformError.inputOutput, PlatformError.noSpace])
  func aSegmentThatCouldNotBeListedIsNotWrittenTo(_ code: Int32) throws {
    let bench = FaultBench()
    let store = try Self.prepared(bench)
    // No segment is ready ahead, and none can be listed.
    bench.plan.fail(.fileStatus, on: .prefix("manifest"), sticky: true, .error(code))
    let value = [UInt8](repeating: 1, count: 9_000)
    var (taken, refused): (Set<[UInt8]>, Int) = ([], 0)
    for number in 0..<20 {
      do throws(StoreError) {
        try store.put(value, forKey: "\(number)")
        taken.insert(bytes("\(number)"))
      } catch { refused += 1 }
    }
    #expect(taken.count > 3)
    #expect(refused > 10)
    store.probe.kill()
    try bench.killProcess()
    let reopened = try bench.open(seed: 2)
    defer { reopened.probe.kill() }
    #expect(try taken.isSubset(of: reopened.contents().keys))
  }

  #if os(Linux)
    @Test func aWriterThatCanHaveNoWorkerSyncsItself() async throws {
      await #expect(processExitsWith: .success) {
        let bench = FaultBench()
        let store = try bench.open()
        try store.put("0", forKey: "first", durability: .synced)
        try refuseMemory()
        #expect(throws: PlatformError.self) { try WorkerThread(name: "none") {} }
        let periodic = try store.put("1", forKey: "key", durability: .periodic(.seconds(1000)))
        #expect(store.durableSequence >= periodic)
        let awaited = try await store.async.put("2", forKey: "key", durability: .synced)
        #expect(store.durableSequence >= awaited)
        store.probe.kill()
      }
    }
  #endif

  @Test func aWriteThatIsDurableDoesNotSuffer() throws {
    let bench = FaultBench()
    let store = try Self.prepared(bench)
    let sequence = try store.put("new", forKey: "key", durability: .synced)
    bench.plan.fail(.sync, on: .suffix(".segment"), .error(5))
    #expect(throws: StoreError.outcomeUnknown(errno: 5)) { try store.put("newer", forKey: "key", durability: .synced) }
    #expect(throws: Never.self) { try store.waitDurable(sequence) }
    #expect(throws: StoreError.syncFailed(errno: 5)) { try store.waitDurable(store.lastSequence) }
    store.probe.kill()
  }
}

#if os(Linux)
  /// Leaves this process no address space for the stack of another thread.
  private func refuseMemory() throws {
    let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).prefix { $0 != " " }
    let bytes = rlim_t(pages).map { $0 * rlim_t(sysconf(Int32(_SC_PAGESIZE))) + 1 << 20 } ?? 0
    var limit = rlimit(rlim_cur: bytes, rlim_max: bytes)
    guard setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0 else { throw CocoaError(.featureUnsupported) }
  }
#endif
