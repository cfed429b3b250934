import Esker

/// The results of a benchmark as a table, as JSON or as a chart.
struct BenchReport {
  let plan: BenchPlan
  let results: [BenchResult]

  private static let quantiles = [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)]

  /// Writes a line per workload; latencies are in microseconds unless the output is a terminal.
  func write(to output: inout BufferedOutput) throws {
    var table = Table(
      [
        .left("WORKLOAD"), .right("OPERATIONS"), .right("PER SECOND"), .right("P50"), .right("P99"), .right("P99.9"),
        .right("MAX"),
      ],
      in: .output
    )
    for result in results {
      let times = Self.quantiles.map { result.latencies.quantile($0.1) } + [result.latencies.maximum]
      let cells = times.map { Cell(shown: HumanUnits.latency($0), plain: NumberText.fixed($0.seconds * 1e6, 3)) }
      try table.add(
        [.word(result.workload.rawValue), .count(result.operations), .count(Int(result.rate))] + cells,
        to: &output
      )
    }
    try table.flush(to: &output)
  }

  /// One JSON object and a newline.
  var json: [UInt8] {
    JSONWriter.line { writer in
      writer.fields([
        "records": plan.records, "keyBytes": plan.keyLength, "valueBytes": plan.valueLength, "threads": plan.threads,
        "readPercent": plan.reads,
      ])
      writer.list("workloads", results) { writer, result in
        writer.field("workload", result.workload.rawValue)
        writer.field("operations", result.operations)
        writer.field("seconds", result.seconds)
        writer.field("operationsPerSecond", result.rate)
        writer.field("latencyMicroseconds", latencies: result.latencies)
      }
    }
  }
}
