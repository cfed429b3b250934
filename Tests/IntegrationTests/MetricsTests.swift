import Esker
import EskerMetrics
import Foundation
import MetricsTestKit
import Testing

@Suite struct MetricsTests {
  /// So long that no second report comes by itself.
  private let once = Duration.seconds(86_400)

  private func total(_ metrics: TestMetrics, _ name: String) -> Int64? {
    metrics.counters(label: name).first?.totalValue
  }

  private func level(_ metrics: TestMetrics, _ name: String) -> Double? {
    metrics.meters(label: name).first?.lastValue
  }

  /// How many reports there were.
  private func reports(_ metrics: TestMetrics) -> Int {
    metrics.meters(label: "esker_keys").first?.values.count ?? 0
  }

  @Test func figuresOfAStoreAreReported() throws {
    try withTemporaryPath { path in
      let store = try LogStore(at: path)
      for number in 0..<20_000 { try store.put("value", forKey: "key\(number)") }
      for number in 0..<20_000 { _ = try store.get("key\(number)") }
      try store.sync()
      let metrics = TestMetrics()
      let observation = store.reportMetrics(every: once, label: "test", dimensions: [("store", "a")], to: metrics)
      // The last that is reported.
      #expect(eventually { metrics.timers(label: "test_sync_duration").first?.values.isEmpty == false })
      #expect(level(metrics, "test_keys") == 20_000)
      #expect(level(metrics, "test_unsynced_writes") == 0)
      #expect(level(metrics, "test_live_bytes").map { $0 > 200_000 } == true)
      #expect(total(metrics, "test_written_records") == 20_000)
      #expect(total(metrics, "test_syncs").map { $0 >= 1 } == true)
      // One in 128 was measured, and at most a hundred are handed on.
      for name in ["test_put_duration", "test_get_duration"] {
        let timer = try #require(metrics.timers(label: name).first)
        #expect(timer.values.count == 100 && timer.values.allSatisfy { $0 >= 0 })
        #expect(timer.values == timer.values.sorted() && timer.dimensions.first?.1 == "a")
      }
      observation.cancel()
      try store.close()
    }
  }

  @Test func countersGrowByWhatIsNew() throws {
    try withTemporaryPath { path in
      let store = try LogStore(at: path)
      let metrics = TestMetrics()
      let observation = store.reportMetrics(every: .milliseconds(1), to: metrics)
      for round in 1...3 {
        for number in 0..<1000 { try store.put("value", forKey: "key\(number)") }
        #expect(eventually { total(metrics, "esker_written_records") == Int64(round * 1000) })
      }
      #expect(eventually { level(metrics, "esker_keys") == 1000 })
      observation.cancel()
      try store.close()
    }
  }

  @Test func reportingEndsWithItsObservation() throws {
    try withTemporaryPath { path in
      let metrics = TestMetrics()
      var store: LogStore? = try LogStore(at: path)
      let observation = try #require(store).reportMetrics(every: .milliseconds(1), to: metrics)
      #expect(eventually { level(metrics, "esker_keys") != nil })
      observation.cancel()
      store = nil
      // A report under way holds the store: once it can be opened, there is none.
      #expect(eventually { (try? LogStore(at: path).close()) != nil })
      let reported = reports(metrics)
      // As long as another takes for some dozens.
      try withTemporaryPath { path in
        let store = try LogStore(at: path)
        let others = TestMetrics()
        let other = store.reportMetrics(every: .milliseconds(1), to: others)
        #expect(eventually { reports(others) >= 50 })
        other.cancel()
        try store.close()
      }
      #expect(reports(metrics) == reported)
    }
  }

  @Test func reportingDoesNotKeepTheStoreOpen() throws {
    try withTemporaryPath { path in
      let metrics = TestMetrics()
      var store: LogStore? = try LogStore(at: path)
      let observation = try #require(store).reportMetrics(every: .milliseconds(1), to: metrics)
      #expect(eventually { level(metrics, "esker_keys") != nil })
      store = nil
      // A report under way may hold it for a moment.
      #expect(eventually { (try? LogStore(at: path).close()) != nil })
      observation.cancel()
    }
  }

  @Test func memoryIsReportedByItselfAndAheadOfALog() throws {
    try withTemporaryPath { path in
      let store = try LogStore(at: path)
      let memory = MemoryStorage<String, Int>()
      let hybrid = HybridStorage(try LogStorage(store, "a", key: String.self, of: Int.self))
      try memory.set(1, forKey: "a")
      try hybrid.set(1, forKey: "a")
      _ = (try memory.value(forKey: "a"), try hybrid.value(forKey: "a"), try memory.value(forKey: "b"))
      let metrics = [TestMetrics(), TestMetrics()]
      let observations = [
        memory.reportMetrics(every: once, to: metrics[0]), hybrid.reportMetrics(every: once, to: metrics[1]),
      ]
      for metrics in metrics {
        #expect(eventually { total(metrics, "esker_memory_expirations") != nil })
        #expect(total(metrics, "esker_memory_hits") == 1 && level(metrics, "esker_memory_count") == 1)
      }
      #expect(total(metrics[0], "esker_memory_misses") == 1)
      for observation in observations { observation.cancel() }
      try store.close()
    }
  }

  @Test func callsAreTimedAndFailuresCounted() throws {
    let metrics = TestMetrics()
    let failing = CustomStorage<String, Int>(name: "remote", get: { _ in throw CancellationError() }, set: { _, _ in })
      .metered(label: "calls", to: metrics)
    try failing.set(1, forKey: "a")
    _ = try? failing.value(forKey: "a")
    let set = [("storage", "remote"), ("call", "set")]
    let read = [("storage", "remote"), ("call", "read")]
    #expect(try metrics.expectTimer("calls", set).values.count == 1)
    #expect(try metrics.expectTimer("calls", read).values.count == 1)
    #expect(try metrics.expectCounter("calls_failures", set).totalValue == 0)
    #expect(try metrics.expectCounter("calls_failures", read).totalValue == 1)
  }
}
