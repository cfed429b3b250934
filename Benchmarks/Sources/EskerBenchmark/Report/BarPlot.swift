import Foundation

/// A drawing of one cell: for each subject a bar for its speed, and one for its latencies.
struct BarPlot {
  var result: CellResult

  /// Writes `cell.svg` into a directory, which is created.
  func write(to directory: String) throws {
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let path = directory + "/\(result.cell)-\(result.keys).svg"
    try Data(svg.utf8).write(to: URL(fileURLWithPath: path))
  }

  private let rowHeight = 22.0
  private let labelWidth = 120.0
  private let barWidth = 300.0

  /// Colours follow the viewer's preference; the default is for a light background.
  private var svg: String {
    let subjects = result.measured
    let height = rowHeight * Double(subjects.count) + 56
    let rows = subjects.enumerated().map { row($1, top: 44 + rowHeight * Double($0)) }.joined(separator: "\n")
    let width = labelWidth + 2 * barWidth + 220
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width) \(height)" font-family="sans-serif" font-size="12">
      <style>
      .back { fill: #fff } text { fill: #222 } .esker { fill: #0a6cd6 } .limit { fill: #9aa0a6 } .peer { fill: #d98324 }
      .p50 { opacity: 1 } .p99 { opacity: .6 } .p999 { opacity: .3 }
      @media (prefers-color-scheme: dark) {
      .back { fill: #16181c } text { fill: #e6e6e6 } .esker { fill: #5aa9ff } .limit { fill: #80868b } .peer { fill: #f0a652 }
      }
      </style>
      <rect class="back" width="100%" height="100%"/>
      <text x="8" y="18" font-weight="bold">\(result.cell), \(Format.count(result.keys)) keys</text>
      <text x="\(labelWidth)" y="36">\(result.workload.isOpen ? "time to the first value" : "operations a second")</text>
      <text x="\(labelWidth + barWidth + 110)" y="36">p50, p99, p99.9 (logarithmic)</text>
      \(rows)
      </svg>

      """
  }

  private func row(_ subject: Subject, top: Double) -> String {
    let kind = subject.isPeer ? "peer" : subject.rawValue
    let length = barWidth * amount(subject) / max(result.measured.map(amount).max() ?? 1, 1e-9)
    var parts = [
      "<text x=\"\(labelWidth - 6)\" y=\"\(top + 14)\" text-anchor=\"end\">\(subject.rawValue)</text>",
      bar(kind, x: labelWidth, top, length),
      "<text x=\"\(number(labelWidth + length + 5))\" y=\"\(top + 14)\">\(Format.speed(result, subject))</text>",
    ]
    if let latency = result.latency(subject) {
      let left = labelWidth + barWidth + 110
      for (name, value) in [("p999", latency.p999), ("p99", latency.p99), ("p50", latency.p50)] {
        parts.append(bar("\(kind) \(name)", x: left, top, logarithmic(value)))
      }
      let place = number(left + logarithmic(latency.p999) + 5)
      parts.append("<text x=\"\(place)\" y=\"\(top + 14)\">\(Format.time(latency.p999))</text>")
    }
    return parts.joined(separator: "\n")
  }

  /// The quantity behind the length of the first bar: the rate, or the time of an open.
  private func amount(_ subject: Subject) -> Double {
    let rate = result.rate(subject) ?? 0
    return result.workload.isOpen ? Double(result.keys) / max(rate, 1e-9) : rate
  }

  /// From 10 ns to 100 ms.
  private func logarithmic(_ nanoseconds: UInt64) -> Double {
    barWidth * min(max(log10(Double(max(nanoseconds, 1))) - 1, 0) / 7, 1)
  }

  private func bar(_ kind: String, x: Double, _ top: Double, _ length: Double) -> String {
    "<rect class=\"\(kind)\" x=\"\(x)\" y=\"\(top + 3)\" width=\"\(number(max(length, 1)))\" height=\"15\" rx=\"2\"/>"
  }

  private func number(_ value: Double) -> String { String(format: "%.1f", value) }
}
