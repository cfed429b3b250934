import Foundation

/// The results as a Markdown table that reads well as plain text too.
struct MarkdownReport {
  var results: [CellResult]

  var text: String {
    let heading = [
      "cell", "keys", "limit", "Esker", "ratio (least–most)", "goal", "p50 / p99 / p99.9 / max", "sum read",
    ]
    let rows = [heading] + results.map(row)
    let widths = heading.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    var lines = rows.map { row in
      "| " + zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: " | ") + " |"
    }
    lines.insert("|" + widths.map { String(repeating: "-", count: $0 + 2) }.joined(separator: "|") + "|", at: 1)
    let figures = results.flatMap { result in
      result.figures.map {
        "- \(result.cell)\(result.keys == 0 ? "" : ", \(count(result.keys)) keys"): \($0.name): \(String(format: "%.3g", $0.value))"
      }
    }
    let notes = scaling + figures
    return (lines + (notes.isEmpty ? [] : [""]) + notes).joined(separator: "\n")
  }

  /// What the second thread adds to the gets.
  private var scaling: [String] {
    results.filter { $0.cell == Workload.getTwoThreads.rawValue }.compactMap { two in
      guard
        let one = results.first(where: { $0.cell == Workload.get.rawValue && $0.keys == two.keys }),
        let esker = quotient(two, one, \.esker), let limit = quotient(two, one, \.limit)
      else { return nil }
      return String(format: "- get, \(count(two.keys)) keys: 2 threads over 1: Esker %.2f, limit %.2f", esker, limit)
    }
  }

  private func quotient(_ two: CellResult, _ one: CellResult, _ side: (CellResult.Run) -> Measurement?) -> Double? {
    guard let upper = two.rate(side), let lower = one.rate(side) else { return nil }
    return upper / lower
  }

  private func row(_ result: CellResult) -> [String] {
    let ratios = result.runs.compactMap(\.ratio)
    let ratio = result.ratio.map { median in
      String(format: "%.3g (%.3g–%.3g)", median, ratios.min() ?? median, ratios.max() ?? median)
    }
    let esker = result.runs.compactMap(\.esker).last
    return [
      result.cell, count(result.keys), speed(result, \.limit), speed(result, \.esker), ratio ?? "-", result.goal,
      result.latency.map(percentiles) ?? "-", esker.map { "\($0.checksum)" } ?? "-",
    ]
  }

  private func count(_ keys: Int) -> String {
    keys == 0
      ? "-" : keys % 1_000_000 == 0 ? "\(keys / 1_000_000) M" : keys % 1_000 == 0 ? "\(keys / 1_000) k" : "\(keys)"
  }

  /// Operations a second, or for an open the time it took.
  private func speed(_ result: CellResult, _ side: (CellResult.Run) -> Measurement?) -> String {
    guard let rate = result.rate(side) else { return "-" }
    if Workload(rawValue: result.cell)?.isOpen == true {
      return String(format: "%.2f ms", Double(result.keys) / rate * 1_000)
    }
    return rate >= 1_000_000 ? String(format: "%.2f M/s", rate / 1_000_000) : String(format: "%.1f k/s", rate / 1_000)
  }

  private func percentiles(_ latency: Latency) -> String {
    [latency.p50, latency.p99, latency.p999, latency.max].map { nanoseconds in
      switch nanoseconds {
      case ..<1_000: "\(nanoseconds) ns"
      case ..<1_000_000: String(format: "%.1f µs", Double(nanoseconds) / 1_000)
      default: String(format: "%.1f ms", Double(nanoseconds) / 1_000_000)
      }
    }.joined(separator: " / ")
  }
}
