import Esker
import Foundation

/// A page with the figures of a watch, which reloads itself as long as the watch goes on. It loads nothing else.
struct WatchPage {
  private let report: WatchReport
  private let interval: Duration
  /// Whether the watch has ended with it.
  var isLast = false

  /// What such a page begins with, and no other file is overwritten for.
  private static let beginning = "<!DOCTYPE html>\n<!-- written by esker watch -->\n"

  init(_ report: WatchReport, reloadingAfter interval: Duration) {
    self.report = report
    self.interval = interval
  }

  /// Throws if there is another file at the path.
  static func require(at path: String) throws {
    guard let status = SystemCalls.status(path) else { return }
    guard status.st_mode & S_IFMT == S_IFREG else { throw ToolError.outputExists(path: path) }
    var bytes = [UInt8](repeating: 0, count: beginning.utf8.count)
    let file = try InputFile(path)
    let count = try file.read(into: &bytes, from: 0)
    guard count == 0 || bytes == Array(beginning.utf8) else { throw ToolError.outputExists(path: path) }
  }

  func write(to path: String) throws(ToolError) {
    try replaceFile(at: path, with: Array(text.utf8))
  }

  var text: String {
    var writer = MarkupWriter()
    writer.add(markup: Self.beginning)
    let refresh = isLast ? "" : "<meta http-equiv=\"refresh\" content=\"\(reloadSeconds)\">"
    writer.page("\(name) - Esker watch", style: WatchStyle.page, head: { $0.add(markup: refresh) }) { writer in
      writer.element("main") { addContents(to: &$0) }
      if !isLast { writer.element("script") { $0.add(markup: script) } }
    }
    return writer.text
  }

  private var name: String {
    escaped(Array(URL(fileURLWithPath: report.path).standardizedFileURL.lastPathComponent.utf8))
  }

  private var reloadSeconds: Int { max(1, Int(interval.seconds.rounded(.up))) }

  /// Says so if the page is not replaced any more.
  private var script: String {
    WatchStyle.script(writtenAt: report.time.millisecondsSince1970, staleAfter: Int64(reloadSeconds) * 3000 + 2000)
  }

  private func addContents(to writer: inout MarkupWriter) {
    let figures = report.sample.statistics
    writer.element("h1", text: name)
    writer.element("p", ["class": "lead"], text: report.origin)
    writer.element("p", ["class": report.sample.isStale ? "trouble" : "trouble hidden", "id": "age"]) { writer in
      if report.sample.isStale { writer.add("The process is not responding: these figures are old.") }
    }
    writer.element("dl", ["class": "tiles"]) { writer in
      for tile in tiles {
        writer.element("div") { writer in
          writer.element("dt", text: tile.title)
          writer.element("dd", text: tile.value)
          writer.element("dd", ["class": "note"], text: tile.note)
        }
      }
    }
    writer.element("h2", text: "Space")
    SpaceBar(figures).add(to: &writer)
    writer.element("div", ["class": "charts"]) { writer in
      for chart in charts { chart.add(to: &writer) }
    }
    if report.sample.source == .published { addLatencies(to: &writer) }
    if figures.keyspaces.count > 1 {
      BarRows(heading: "Keyspaces by keys", rows: keyspaces, others: "with fewer").add(to: &writer)
    }
    let ending = isLast ? "; the watch has ended" : "; every \(HumanUnits.duration(seconds: interval.seconds))"
    writer.element("footer", text: "Written by esker watch, \(report.time)\(ending)")
  }

  /// Those of what is known only of a process that publishes it are left out of others.
  private var charts: [TimeChart] {
    func count(_ value: Double) -> String { NumberText.count(Int(clamping: Int64(min(value.rounded(), 1e15)))) }
    func bytes(_ value: Double) -> String { HumanUnits.bytes(Int(clamping: Int64(min(value, 1e18)))) }
    func latency(_ value: Double) -> String { HumanUnits.latency(.seconds(value)) }
    let history = report.history
    let always = [
      TimeChart(title: "Writes per second", series: history.series(\.writes), text: count),
      TimeChart(title: "Disk space", series: history.series(\.bytesOnDisk), text: bytes),
    ]
    let published = [
      TimeChart(title: "Gets per second, about", series: history.series(\.gets), text: count),
      TimeChart(title: "Put latency, 99 %", series: history.series(\.puts), text: latency),
      TimeChart(title: "Get latency, 99 %", series: history.series(\.getTimes), text: latency),
    ]
    return always + published.filter { $0.series.points.count > 1 }
  }

  private var keyspaces: [BarRows.Row] {
    report.sample.statistics.keyspaces.sorted { ($1.value.keys, $0.key) < ($0.value.keys, $1.key) }.map {
      name,
      keyspace in
      BarRows.Row(
        name: shownKeyspace(name),
        parts: [(.lasting, Double(keyspace.keys))],
        figure: "\(NumberText.count(keyspace.keys)), \(HumanUnits.bytes(keyspace.liveBytes))"
      )
    }
  }

  private var tiles: [(title: String, value: String, note: String)] {
    let figures = report.sample.statistics
    var tiles = [
      ("keys", NumberText.count(figures.keys), "with expired ones"),
      (
        "writes", rate(report.rates?.writes),
        "\(NumberText.count(Int(clamping: figures.lastSequence.rawValue))) in all"
      ),
    ]
    let isPublished = report.sample.source == .published
    if isPublished {
      tiles.append(("gets", rate(report.rates?.gets), "estimated"))
      tiles.append(("syncs", rate(report.rates?.syncs), ""))
    }
    tiles.append(
      (
        "on disk", HumanUnits.bytes(figures.bytesOnDisk),
        figures.settings.capacity.map { "of \(HumanUnits.bytes($0))" } ?? ""
      )
    )
    tiles.append(
      ("segments", NumberText.count(report.sample.segments), "\(NumberText.count(report.sample.sealedSegments)) sealed")
    )
    if isPublished {
      tiles.append(
        ("merges", NumberText.count(figures.merges), "\(HumanUnits.bytes(figures.merged.bytesFreed)) reclaimed")
      )
      tiles.append(("held", HumanUnits.bytes(figures.pinnedBytes), NumberText.count(figures.openSnapshots, "snapshot")))
    }
    return tiles
  }

  private func rate(_ rate: Double?) -> String { rate == nil ? "-" : report.perSecond(rate) + "/s" }

  private func addLatencies(to writer: inout MarkupWriter) {
    let quantiles = [("median", 0.5), ("99 %", 0.99), ("99.9 %", 0.999)]
    writer.element("h2", text: "Latencies since the last update")
    writer.element("div", ["class": "scroll"]) { writer in
      writer.element("table", ["class": "latencies"]) { writer in
        writer.element("tr") { writer in
          for title in [""] + quantiles.map(\.0) + ["longest"] { writer.element("th", ["scope": "col"], text: title) }
        }
        for (title, histogram) in [
          ("put", report.rates?.puts), ("get", report.rates?.getTimes), ("sync", report.rates?.syncTimes),
        ] {
          let histogram = WatchReport.filled(histogram)
          writer.element("tr") { writer in
            writer.element("th", ["scope": "row"], text: title)
            for (_, share) in quantiles {
              writer.element("td", text: histogram.map { HumanUnits.latency($0.quantile(share)) } ?? "-")
            }
            writer.element("td", text: histogram.map { HumanUnits.latency($0.maximum) } ?? "-")
          }
        }
      }
    }
  }
}
