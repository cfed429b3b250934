import Esker

/// What is known of how a store is used: what its process has published, and which segments are rewritten.
struct MapActivity {
  private let published: Statistics.Published?
  private let hottest: [(id: UInt64, heat: SegmentHeat)]

  /// - Parameter published: Nil if no process that publishes has the store open.
  init(_ segments: [MapSegment], _ published: Statistics.Published?) {
    self.published = published
    let rewritten = segments.compactMap { segment in segment.heat.map { (id: segment.description.id, heat: $0) } }
    hottest = rewritten.filter { $0.heat.rewritten > 0 }.sorted { $0.heat.bytesPerHour > $1.heat.bytesPerHour }
  }

  func add(to writer: inout MarkupWriter) {
    if let published {
      writer.element("h2", text: "Reads and writes")
      writer.element("p", ["class": "lead bare"], text: Self.text(published))
    }
    // Only the first few say anything, so nothing is said of the others.
    let rows = hottest.prefix(8).map { id, heat in
      BarRows.Row(name: "segment \(id)", parts: [(.dead, heat.bytesPerHour)], figure: heat.text)
    }
    BarRows(heading: "Rewritten fastest, by segment", rows: rows).add(to: &writer)
  }

  /// A sentence of what the process has done since it opened the store.
  static func text(_ published: Statistics.Published) -> String {
    let figures = published.statistics
    let seconds = max(published.uptime.seconds, 0.001)
    let gets = figures.gets.count * 128
    func rate(_ count: Int) -> String { NumberText.count(Int(clamping: Int64(Double(count) / seconds))) }
    var text = "Process \(published.processID) has had the store open for \(HumanUnits.duration(seconds: seconds)): "
    text += gets > 0 ? "about \(NumberText.count(gets)) gets (\(rate(gets))/s)" : "hardly any gets"
    if gets > 0 { text += ", half of them within \(HumanUnits.latency(figures.gets.quantile(0.5)))" }
    let writes = figures.recordsWritten
    return text
      + "; \(NumberText.count(writes, "write")) (\(rate(writes))/s), \(HumanUnits.bytes(figures.bytesLogged)) logged."
  }
}
