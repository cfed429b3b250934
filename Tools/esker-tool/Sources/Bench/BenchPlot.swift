import Esker
import Foundation

/// A chart of latencies: a row for each workload on a shared logarithmic axis, from the median to the maximum.
struct BenchPlot {
  let report: BenchReport

  private static let width = 720.0
  private static let left = 90.0
  private static let right = 150.0
  private static let rowHeight = 44.0

  /// The chart as SVG, readable on light and dark backgrounds.
  var svg: String {
    let results = report.results
    let height = Self.rowHeight * Double(results.count) + 74
    let plan = report.plan
    var text = """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(Self.width)) \(Int(height))" role="img" \
      aria-label="Latencies of an Esker store by workload">
      <style>
      text { font: 12px system-ui, sans-serif; fill: #222 } .grid { stroke: #8886 } .span { stroke: #4a7ebb; \
      stroke-width: 4 } .mark { fill: #4a7ebb } .soft { opacity: .75 }
      @media (prefers-color-scheme: dark) { text { fill: #ddd } .span { stroke: #7fb0e6 } .mark { fill: #7fb0e6 } }
      </style>
      <text x="\(Int(Self.left))" y="18">\(NumberText.count(plan.records)) records of \(plan.keyLength) + \
      \(plan.valueLength) bytes, \(NumberText.count(plan.threads, "thread")): p50, p99, p99.9, longest</text>

      """
    for power in Int(range.lowerBound)...Int(range.upperBound) {
      let x = place(nanoseconds: pow(10, Double(power)))
      let label = HumanUnits.latency(.nanoseconds(Int64(pow(10, Double(power))))).replacing(".00", with: "").replacing(
        ".0 ",
        with: " "
      )
      text += "<line class=\"grid\" x1=\"\(x)\" y1=\"28\" x2=\"\(x)\" y2=\"\(height - 36)\"/>"
      text += "<text x=\"\(x)\" y=\"\(height - 18)\" text-anchor=\"middle\">\(label)</text>\n"
    }
    for (index, result) in results.enumerated() {
      text += row(result, y: 50 + Self.rowHeight * Double(index))
    }
    return text + "</svg>\n"
  }

  private func row(_ result: BenchResult, y: Double) -> String {
    let histogram = result.latencies
    let times = [histogram.quantile(0.5), histogram.quantile(0.99), histogram.quantile(0.999), histogram.maximum]
    let places = times.map { place(nanoseconds: $0.seconds * 1e9) }
    var text = "<text x=\"8\" y=\"\(y + 4)\">\(result.workload.rawValue)</text>"
    text += "<line class=\"span soft\" x1=\"\(places[0])\" y1=\"\(y)\" x2=\"\(places[3])\" y2=\"\(y)\"/>"
    for (place, time) in zip(places, zip(["p50", "p99", "p99.9", "longest"], times)) {
      text += "<circle class=\"mark\" cx=\"\(place)\" cy=\"\(y)\" r=\"5\">"
      text += "<title>\(time.0) \(HumanUnits.latency(time.1))</title></circle>"
    }
    let rate = NumberText.count(Int(result.rate))
    text += "<text x=\"\(Self.width - 8)\" y=\"\(y + 4)\" text-anchor=\"end\">\(rate)/s</text>\n"
    return text
  }

  /// The powers of ten that enclose all latencies.
  private var range: ClosedRange<Double> {
    let times = report.results.flatMap { [$0.latencies.quantile(0.5), $0.latencies.maximum] }.map { $0.seconds * 1e9 }
    let low = log10(max(1, times.min() ?? 1)).rounded(.down)
    return low...max(low + 1, log10(max(10, times.max() ?? 10)).rounded(.up))
  }

  private func place(nanoseconds: Double) -> Double {
    let range = range
    let share = (log10(max(1, nanoseconds)) - range.lowerBound) / (range.upperBound - range.lowerBound)
    let place = Self.left + share * (Self.width - Self.left - Self.right)
    return (place * 10).rounded() / 10
  }
}
