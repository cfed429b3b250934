import EskerTestSupport
import Foundation
import Testing

@testable import esker_tool

@Suite struct BenchTests {
  private let small = ["--records", "2000", "--duration", "100ms"]

  @Test func everyWorkloadIsMeasuredAndNothingIsLeft() throws {
    let scratch = try Scratch()
    let before = try FileManager.default.contentsOfDirectory(atPath: scratch.directory.path).count
    let plot = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).svg").path
    defer { try? FileManager.default.removeItem(atPath: plot) }
    var runs = 0
    var workloads: [[String: Any]] = []
    // On a machine that is busy a workload's time may be over before its threads have begun.
    let areMeasured = try eventually {
      if runs > 0 { try FileManager.default.removeItem(atPath: plot) }
      let result = try scratch.run(
        ["bench", scratch.directory.path, "--json", "--threads", "3", "--plot", plot] + small
      )
      #expect(result.status == 0)
      let report = try #require(try JSONSerialization.jsonObject(with: result.output) as? [String: Any])
      #expect(report["threads"] as? Int == 3)
      workloads = try #require(report["workloads"] as? [[String: Any]])
      runs += 1
      return workloads.allSatisfy { $0["operations"] as? Int ?? 0 > 0 }
    }
    #expect(areMeasured)
    #expect(workloads.map { $0["workload"] as? String } == ["fill", "read", "mixed", "zipfian", "durable"])
    #expect(workloads.first?["operations"] as? Int == 2000)
    for workload in workloads {
      #expect((workload["operationsPerSecond"] as? Double ?? 0) > 0)
      let latencies = try #require(workload["latencyMicroseconds"] as? [String: Double])
      #expect(latencies.keys.sorted() == ["max", "p50", "p99", "p99.9"])
      #expect((latencies["p50"] ?? 0) <= (latencies["p99"] ?? 0))
      #expect((latencies["p99.9"] ?? 0) <= (latencies["max"] ?? 0))
    }
    // A run's own files for output and errors are two more.
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.directory.path).count == before + 2 * runs)
    let svg = try String(contentsOfFile: plot, encoding: .utf8)
    #expect(isBalanced(svg))
    #expect(svg.components(separatedBy: "<circle").count == 21)
  }

  @Test func entriesOfAStoreAreMeasuredInAnyMixture() throws {
    let scratch = try Scratch()
    let lines = (0..<300).map { "{\"id\":\"key \($0)\",\"text\":\"\(String(repeating: "x", count: $0))\"}\n" }.joined()
    let load = ["load", scratch.store, "-", "--key-field", "id", "--keyspace", "texts"]
    #expect(try scratch.run(load, input: Data(lines.utf8)).status == 0)
    let bench = ["bench", scratch.directory.path, "--data", scratch.store, "--json", "--duration", "50ms"]
    let result = try scratch.run(bench + ["--keyspace", "texts", "--workload", "mixed", "--reads", "100"])
    #expect(result.status == 0, "\(result.errors)")
    let report = try #require(try JSONSerialization.jsonObject(with: result.output) as? [String: Any])
    #expect(report["records"] as? Int == 300 && report["readPercent"] as? Int == 100)
    #expect(report["keyBytes"] as? Int == 6 && report["valueBytes"] as? Int ?? 0 > 150)
    let few = try scratch.run(bench + ["--keyspace", "texts", "--records", "10", "--workload", "fill"])
    #expect(few.text.contains("\"operations\":10,"))
    #expect(try scratch.run("count", scratch.store, "--keyspace", "texts").text == "300\n")
    let none = try scratch.run(bench)
    #expect(none.status == 1 && none.errors.contains("no entry in \(scratch.store) to measure with"))
    #expect(none.errors.contains("texts"))
    for wrong in [["--reads", "101"], ["--keyspace", "texts"]] {
      #expect(try scratch.run(["bench", scratch.directory.path] + wrong).status == 64)
    }
  }

  @Test func oneWorkloadIsShownAlone() throws {
    let scratch = try Scratch()
    let result = try scratch.run(["bench", scratch.directory.path, "--workload", "zipfian"] + small)
    #expect(result.status == 0)
    #expect(result.lines.count == 2)
    #expect(result.lines.first?.hasPrefix("WORKLOAD\tOPERATIONS\tPER SECOND\tP50") == true)
    let cells = result.lines.last?.split(separator: "\t") ?? []
    #expect(cells.first == "zipfian")
    // Microseconds, to the nanosecond.
    #expect(cells.dropFirst(3).allSatisfy { $0.wholeMatch(of: /[0-9]+\.[0-9]{3}/) != nil }, "\(cells)")
  }

  @Test func anInterruptedBenchmarkLeavesNothing() throws {
    let scratch = try Scratch()
    let tool = try RunningTool(["bench", scratch.directory.path, "--records", "5000", "--duration", "1000s", "-q"])
    let hasBegun = try eventually {
      try !FileManager.default.contentsOfDirectory(atPath: scratch.directory.path).isEmpty || !tool.process.isRunning
    }
    #expect(hasBegun)
    #expect(tool.end(with: SIGINT) == 130)
    #expect(tool.messages == "esker: interrupted\n")
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.directory.path).isEmpty)
  }

  @Test func whatCannotBeDoneIsSaid() throws {
    let scratch = try Scratch()
    #expect(try scratch.run("bench", scratch.path("none")).status == 66)
    #expect(try scratch.run("bench", scratch.directory.path, "--threads", "0").status == 64)
    #expect(try scratch.run("bench", scratch.directory.path, "--key-size", "4").status == 64)
    #expect(try scratch.run("bench", scratch.directory.path, "--duration", "2d").status == 64)
    let taken = try scratch.file("plot.svg", [])
    #expect(try scratch.run("bench", scratch.directory.path, "--plot", taken).status == 74)
  }

  @Test func zipfianKeysAreSkewedAndInRange() {
    let keys = ZipfianKeys(count: 1000)
    var random = BenchRandom(seed: 1)
    var counts = [Int](repeating: 0, count: 1000)
    for _ in 0..<100_000 { counts[keys.next(using: &random)] += 1 }
    counts.sort(by: >)
    // The most frequent of 1000 is one in 7.7 with this exponent.
    #expect((11_000...15_000).contains(counts[0]))
    #expect(counts.prefix(100).reduce(0, +) > 60_000)
  }
}

/// Whether each element of a picture is closed. Foundation's parser of XML is a module of its own on Linux.
private func isBalanced(_ text: String) -> Bool {
  let opened = text.matches(of: /<([a-z]+)[^>]*[^\/]>/).count
  let closed = text.matches(of: /<\/[a-z]+>/).count
  return text.hasPrefix("<svg ") && text.hasSuffix("</svg>\n") && opened == closed
}
