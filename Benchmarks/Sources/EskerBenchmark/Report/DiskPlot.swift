import Foundation

/// A drawing of a store's disk use over its operations.
struct DiskPlot {
  var title: String
  var timeline: DiskTimeline

  /// Writes `name.svg` into a directory, which is created.
  func write(to directory: String, name: String) throws {
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    try Data(svg.utf8).write(to: URL(fileURLWithPath: directory + "/" + name + ".svg"))
  }

  private var svg: String {
    let (width, height, left, top) = (720.0, 240.0, 70.0, 30.0)
    let operations = Double(max(timeline.samples.last?.operation ?? 1, 1))
    let most = Double(max(timeline.most, 1))
    let points = timeline.samples.map { sample in
      let x = left + Double(sample.operation) / operations * width
      let y = top + height - Double(sample.bytes) / most * height
      return String(format: "%.1f,%.1f", x, y)
    }
    let label = "font-family=\"sans-serif\" font-size=\"12\""
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(left + width + 30) \(top + height + 40)">
      <rect width="100%" height="100%" fill="white"/>
      <text x="\(left)" y="18" \(label)>\(title)</text>
      <path d="M\(left) \(top)v\(height)h\(width)" fill="none" stroke="#888"/>
      <text x="\(left - 6)" y="\(top + 10)" text-anchor="end" \(label)>\(String(format: "%.1f MB", most * 1e-6))</text>
      <text x="\(left - 6)" y="\(top + height)" text-anchor="end" \(label)>0</text>
      <text x="\(left + width)" y="\(top + height + 18)" text-anchor="end" \(label)>\(Int(operations)) operations</text>
      <polyline fill="none" stroke="#06c" stroke-width="1" points="\(points.joined(separator: " "))"/>
      </svg>

      """
  }
}
