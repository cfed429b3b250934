import Esker
import EskerTestSupport
import Foundation
import Testing

@testable import esker_tool

/// What `stats --format prometheus` prints, read as Prometheus does.
@Suite struct PrometheusTests {
  private func filled() throws -> Scratch {
    let scratch = try Scratch()
    var options = Options()
    options.capacity = 200_000_000
    let store = try LogStore(at: scratch.path("a \"b\" \\"), options: options)
    try store.put("1", forKey: "a")
    try store.keyspace("names\n").put("2", forKey: "b")
    try store.close()
    return scratch
  }

  @Test func aClosedStoreHasItsFigures() throws {
    let scratch = try filled()
    let path = scratch.path("a \"b\" \\")
    let result = try scratch.run("stats", path, "--format", "prometheus")
    #expect(result.status == 0 && result.errors.isEmpty)
    let page = try PrometheusPage(result.text)
    #expect(page.value("esker_keys", ["keyspace": ""]) == 1)
    #expect(page.value("esker_keys", ["keyspace": "names\n"]) == 1)
    #expect(page.value("esker_writes_total") == 2)
    #expect(page.value("esker_capacity_bytes") == 200_000_000)
    #expect(page.samples.allSatisfy { $0.labels["store"] == path })
    #expect(page.families["esker_put_duration_seconds"] == nil)
    #expect(try scratch.run("stats", path, "--format", "json").output == scratch.run("stats", path, "--json").output)
    #expect(try scratch.run("stats", path, "--format", "text").output == scratch.run("stats", path).output)
    #expect(try scratch.run("stats", path, "--format", "prometheus", "--json").status == 64)
    #expect(try scratch.run("stats", path, "--format", "xml").status == 64)
  }

  @Test func aStoreInUseHasLatenciesToo() throws {
    let scratch = try Scratch()
    var options = Options()
    options.statisticsInterval = .milliseconds(50)
    let store = try LogStore(at: scratch.store, options: options)
    for number in 0..<2000 { try store.put("value", forKey: "key \(number)") }
    try store.sync()
    // It says so every 50 ms.
    var last: PrometheusPage?
    #expect(
      try eventually {
        let page = try PrometheusPage(scratch.run("stats", scratch.store, "--format", "prometheus").text)
        last = page
        return page.value("esker_put_duration_seconds_count") ?? 0 > 0
          && page.value("esker_sync_duration_seconds_sum") ?? 0 > 0
      }
    )
    let page = try #require(last)
    let puts = try #require(page.value("esker_put_duration_seconds_count"))
    #expect(puts > 0 && page.value("esker_put_duration_seconds_bucket", ["le": "+Inf"]) == puts)
    #expect(try #require(page.value("esker_sync_duration_seconds_sum")) > 0)
    #expect(try #require(page.value("esker_logged_bytes_total")) > 0)
    let opened = try #require(page.value("esker_opened_timestamp_seconds"))
    #expect(abs(opened - Date().timeIntervalSince1970) < 600)
    try store.close()
  }

  @Test(arguments: [
    "a 1\n", "# TYPE a gauge\na 1\n", "# HELP a x\n# TYPE a counter\na 1\n", "# HELP a x\n# TYPE a gauge\na{b=1} 1\n",
    "# HELP a x\n# TYPE a gauge\na x\n", "# HELP a x\n# TYPE a gauge\nb 1\n", "# HELP a x\n# TYPE a gauge\na 1\na 1\n",
    "# HELP a_ms x\n# TYPE a_ms gauge\na_ms 1\n", "# HELP a x\n# TYPE a gauge\na 1",
    "# HELP a x\n# TYPE a histogram\na_sum 1\n",
  ])
  func theReaderIsStrict(_ text: String) {
    #expect(throws: PrometheusPage.Fault.self) { try PrometheusPage(text) }
  }
}
