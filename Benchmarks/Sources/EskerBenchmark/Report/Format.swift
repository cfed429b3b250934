import Foundation

/// Human-readable numbers.
enum Format {
  static func count(_ keys: Int) -> String {
    keys == 0
      ? "-" : keys % 1_000_000 == 0 ? "\(keys / 1_000_000) M" : keys % 1_000 == 0 ? "\(keys / 1_000) k" : "\(keys)"
  }

  /// Operations per second, or the time of an open.
  static func speed(_ result: CellResult, _ subject: Subject) -> String {
    guard let rate = result.rate(subject) else { return "-" }
    if result.workload.isOpen { return String(format: "%.2f ms", Double(result.keys) / rate * 1_000) }
    return self.rate(rate)
  }

  /// Operations per second.
  static func rate(_ rate: Double) -> String {
    rate >= 1_000_000 ? String(format: "%.2f M/s", rate / 1_000_000) : String(format: "%.1f k/s", rate / 1_000)
  }

  static func ratio(_ value: Double) -> String {
    value >= 100 ? String(format: "%.0f", value) : String(format: "%.3g", value)
  }

  static func spread(_ spread: Spread?) -> String {
    guard let spread else { return "-" }
    if spread.least == spread.most { return ratio(spread.median) }
    return "\(ratio(spread.median)) (\(ratio(spread.least))–\(ratio(spread.most)))"
  }

  static func time(_ nanoseconds: UInt64) -> String {
    switch nanoseconds {
    case ..<1_000: "\(nanoseconds) ns"
    case ..<1_000_000: String(format: "%.1f µs", Double(nanoseconds) / 1_000)
    default: String(format: "%.1f ms", Double(nanoseconds) / 1_000_000)
    }
  }

  static func latency(_ latency: Latency?) -> String {
    guard let latency else { return "-" }
    return [latency.p50, latency.p99, latency.p999, latency.max].map(time).joined(separator: " / ")
  }

  static func megabytes(_ bytes: Double?) -> String {
    bytes.map { String(format: $0 < 10_000_000 ? "%.1f" : "%.0f", $0 * 1e-6) } ?? "-"
  }

  /// A Markdown table that reads well as plain text too.
  static func table(_ rows: [[String]]) -> String {
    guard let heading = rows.first else { return "" }
    let widths = heading.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    var lines = rows.map { row in
      "| " + zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: " | ") + " |"
    }
    lines.insert("|" + widths.map { String(repeating: "-", count: $0 + 2) }.joined(separator: "|") + "|", at: 1)
    return lines.joined(separator: "\n")
  }
}
