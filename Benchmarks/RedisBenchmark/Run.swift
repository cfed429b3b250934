import EskerRedis
import EskerRemote
import EskerRemoteTestSupport
import Foundation
import NIOCore
import NIOPosix
import Synchronization

enum Run {
  static let keys = 10_000
  static let tasks = 1_000
  static let payload = ContiguousArray<UInt8>(repeating: 7, count: 100)

  nonisolated static func all(_ arguments: [String]) async {
    let seconds =
      arguments.firstIndex(of: "--seconds").flatMap {
        arguments.indices.contains($0 + 1) ? Double(arguments[$0 + 1]) : nil
      } ?? 3
    guard let server = Server() else {
      print("redis-server is not installed")
      return
    }
    defer { server.stop() }
    do {
      let store = try RedisServer(RedisConfiguration([.init("127.0.0.1", port: server.port)]))
      let sink = Sink()
      try await store.start(prefix: Array("b:".utf8), sink: sink)
      if arguments.contains("--invalidations") {
        try await invalidations(store, sink, server, seconds)
      } else {
        let only = arguments.firstIndex(of: "--only").map {
          Array(arguments[($0 + 1)...].prefix { !$0.hasPrefix("-") })
        }
        try await throughput(store, server, seconds, only: only)
      }
      await store.stop()
    } catch { print("failed: \(error)") }
  }

  // MARK: Throughput

  private static func throughput(_ store: RedisServer, _ server: Server, _ seconds: Double, only: [String]?)
    async throws
  {
    let keys = (0..<keys).map { store.key(Array("key:\($0)".utf8)) }
    for key in keys { _ = try await store.set(key, value(0), as: nextWrite(), by: deadline()) }
    let (gets, sets) = server.benchmark()
    print("redis-benchmark -P 32      get \(thousands(gets))  set \(thousands(sets))")
    func measure(_ word: String, _ name: String, _ reference: Double, _ body: () async throws -> Double) async rethrows
    {
      if let only, !only.contains(word) { return }
      let before = processorTime()
      let rate = try await body()
      report(name, rate, reference, processor: (processorTime() - before) / (rate * seconds))
    }
    try await measure("get", "1,000 tasks: get", gets) {
      try await tasks(seconds) { number in _ = try await store.get(keys[number % keys.count], by: deadline()) }
    }
    try await measure("loop", "1,000 tasks on loop: get", gets) {
      try await tasks(seconds, on: store.executor) { number in
        _ = try await store.get(keys[number % keys.count], by: deadline())
      }
    }
    try await measure("set", "1,000 tasks: set", sets) {
      try await tasks(seconds) { number in
        _ = try await store.set(keys[number % keys.count], value(UInt64(number)), as: nextWrite(), by: deadline())
      }
    }
    try await measure("batch", "get of 1,000 at a time", gets) { try await batches(seconds, keys, store) }
    let bare = Suspensions()
    try await measure("none", "1,000 tasks: no request", gets) { try await tasks(seconds) { _ in await bare.pass() } }
  }

  /// What all threads have used so far, in seconds.
  private static func processorTime() -> Double { Double(clock()) / 1_000_000 }

  private static func tasks(
    _ seconds: Double,
    on executor: (any TaskExecutor)? = nil,
    _ body: @escaping @Sendable (Int) async throws -> Void
  ) async throws -> Double {
    let end = ContinuousClock.now + .seconds(seconds)
    let began = ContinuousClock.now
    let count = try await withThrowingTaskGroup(of: Int.self) { group in
      for task in 0..<tasks {
        group.addTask(executorPreference: executor) {
          var number = task * 7_919
          var done = 0
          while ContinuousClock.now < end {
            for _ in 0..<10 {
              try await body(number)
              number += 1
            }
            done += 10
          }
          return done
        }
      }
      return try await group.reduce(0, +)
    }
    return Double(count) / ((ContinuousClock.now - began) / .seconds(1))
  }

  /// Four batches are under way at a time.
  private static func batches(_ seconds: Double, _ keys: [RemoteKey], _ store: RedisServer) async throws -> Double {
    let end = ContinuousClock.now + .seconds(seconds)
    let began = ContinuousClock.now
    let count = await withTaskGroup(of: Int.self) { group in
      for task in 0..<4 {
        group.addTask {
          var done = 0
          while ContinuousClock.now < end {
            let start = (task * 2_500 + done) % (keys.count - 1_000)
            let some = Array(keys[start..<(start + 1_000)])
            await withCheckedContinuation { continuation in
              let left = Atomic<Int>(some.count)
              let box = Box(left)
              store.get(several: some, by: deadline()) { _, _ in
                if box.left.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 {
                  continuation.resume()
                }
              }
            }
            done += some.count
          }
          return done
        }
      }
      return await group.reduce(0, +)
    }
    return Double(count) / ((ContinuousClock.now - began) / .seconds(1))
  }

  private static func report(_ name: String, _ rate: Double, _ reference: Double, processor seconds: Double) {
    let ratio = String(format: "%.2f", reference > 0 ? rate / reference : 0)
    let cost = String(format: "%.2f", seconds * 1e6)
    print(
      "\(name.padding(toLength: 26, withPad: " ", startingAt: 0)) \(thousands(rate))  \(ratio) of redis-benchmark, \(cost) us of a core each"
    )
  }

  private static func thousands(_ rate: Double) -> String { "\(Int(rate / 1_000)) k/s" }

  // MARK: Invalidations

  /// How late changes come while another client writes 10,000 values a second, beside round trips of the same time.
  private static func invalidations(_ store: RedisServer, _ sink: Sink, _ server: Server, _ seconds: Double)
    async throws
  {
    let writer = try RedisServer(RedisConfiguration([.init("127.0.0.1", port: server.port)]))
    try await writer.start(prefix: Array("b:".utf8), sink: Sink())
    let count = Int(seconds * 10_000)
    let keys = (0..<count).map { writer.key(Array("i\($0)".utf8)) }
    let sent = Times(count)
    let told = Times(count)
    sink.times.withLock { $0 = told }
    var trips: [Double] = []
    let began = ContinuousClock.now
    for number in 0..<count {
      let due = began + .microseconds(100 * number)
      if number % 10 == 0 {
        while ContinuousClock.now < due { await Task.yield() }
      }
      sent.note(number)
      writer.set(keys[number], value(UInt64(number)), if: .always, as: nextWrite(), by: deadline()) { _ in }
      if number % 100 == 0 {
        let start = ContinuousClock.now
        _ = try await store.get(keys[number], by: deadline())
        trips.append((ContinuousClock.now - start) / .milliseconds(1))
      }
    }
    try await Task.sleep(for: .seconds(1))
    let delays = (0..<count).compactMap { told.delay($0, since: sent) }
    print("changes told: \(delays.count) of \(count)")
    percentiles("delay of a change", delays)
    percentiles("round trip of a get", trips)
    await writer.stop()
  }

  private static func percentiles(_ name: String, _ values: [Double]) {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return }
    let figures = [0.5, 0.99, 0.999, 1].map { share in
      String(format: "%.2f", sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))])
    }
    print(
      "\(name.padding(toLength: 26, withPad: " ", startingAt: 0)) ms: p50 \(figures[0])  p99 \(figures[1])  p99.9 \(figures[2])  max \(figures[3])"
    )
  }

  // MARK: Values

  private static let writes = Atomic<UInt64>(1)

  private static func nextWrite() -> RemoteWriteID { RemoteWriteID(writes.wrappingAdd(1, ordering: .relaxed).newValue) }

  private static func value(_ number: UInt64) -> RemoteValue {
    RemoteValue(RemoteEnvelope(version: RemoteVersion(time: number, count: 0, writer: 1)), payload: payload.span.bytes)
  }

  private static func deadline() -> RemoteInstant { RemoteInstant.now.advanced(by: .seconds(10)) }
}

/// Tasks that are suspended, handed to an event loop together, and resumed there: the least that a request of a task can cost here.
private final class Suspensions: Sendable {
  private let loop = MultiThreadedEventLoopGroup.singleton.any()
  private let waiting = Mutex<[CheckedContinuation<Void, Never>]>([])

  func pass() async {
    await withCheckedContinuation { continuation in
      let isFirst = waiting.withLock { waiting in
        waiting.append(continuation)
        return waiting.count == 1
      }
      if isFirst { loop.execute { self.resumeAll() } }
    }
  }

  private func resumeAll() {
    let all = waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
    for continuation in all { continuation.resume() }
  }
}

private final class Box: Sendable {
  let left: Atomic<Int>
  init(_ left: consuming Atomic<Int>) { self.left = left }
}

/// When things happened, by number.
final class Times: Sendable {
  private let times: [AtomicTime]

  private final class AtomicTime: Sendable {
    let nanoseconds = Atomic<Int64>(0)
  }

  init(_ count: Int) { times = (0..<count).map { _ in AtomicTime() } }

  func note(_ number: Int) {
    guard times.indices.contains(number) else { return }
    let passed = Times.start.duration(to: .now)
    times[number].nanoseconds.store(Int64(passed / .nanoseconds(1)), ordering: .relaxed)
  }

  func delay(_ number: Int, since other: Times) -> Double? {
    let (end, start) = (
      times[number].nanoseconds.load(ordering: .relaxed), other.times[number].nanoseconds.load(ordering: .relaxed)
    )
    return end == 0 || start == 0 ? nil : Double(end - start) / 1_000_000
  }

  private static let start = ContinuousClock.now
}

/// Notes when a change of `i` and a number is told.
final class Sink: RemoteSink {
  let times = Mutex<Times?>(nil)

  func changed(_ key: RawSpan, domain: UInt16, at stamp: RemoteStamp) {
    guard let times = times.withLock({ $0 }), key.byteCount > 1 else { return }
    let text = key.withUnsafeBytes { String(decoding: $0.dropFirst(), as: UTF8.self) }
    if let number = Int(text) { times.note(number) }
  }

  func raised(_ domains: Range<UInt16>, to generation: UInt32) {}
  func trusted(_ domains: Range<UInt16>, in generation: UInt32, until instant: RemoteInstant) {}
  func suspended(_ domains: Range<UInt16>) {}
  func settled(_ write: RemoteWriteID, _ outcome: RemoteOutcome) {}
}
