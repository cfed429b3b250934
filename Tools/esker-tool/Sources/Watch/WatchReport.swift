import Esker
import Foundation

/// A sample and the changes since the previous one, as text or JSON.
struct WatchReport {
  let path: String
  let sample: StoreSample
  let rates: StoreRates?
  let time: WallTime
  var history = WatchHistory()

  // MARK: For people

  /// A single line, for output that is not a terminal.
  var line: String {
    let figures = sample.statistics
    var text = "\(clock) \(NumberText.count(figures.keys, "key")), \(perSecond(rates?.writes)) writes/s"
    if let gets = rates?.gets { text += ", \(perSecond(gets)) gets/s" }
    if let syncs = rates?.syncs { text += ", \(perSecond(syncs)) syncs/s" }
    text += ", live \(HumanUnits.bytes(figures.liveBytes)), dead \(HumanUnits.bytes(figures.deadBytes))"
    text += ", on disk \(HumanUnits.bytes(figures.bytesOnDisk)), \(NumberText.count(sample.segments, "segment"))"
    if sample.source == .published { text += ", \(NumberText.count(figures.merges, "merge"))" }
    if sample.isStale { text += ", stale figures" }
    return text
  }

  /// Lines that replace those shown before.
  var screen: [String] {
    let figures = sample.statistics
    var lines = ["\(path)  \(clock)", origin, ""]
    func add(_ name: String, _ text: String) {
      lines.append(name + String(repeating: " ", count: max(1, 11 - name.count)) + text)
    }
    add("keys", NumberText.count(figures.keys))
    add(
      "space",
      "\(HumanUnits.bytes(figures.bytesOnDisk)) on disk, \(HumanUnits.bytes(figures.liveBytes)) live, "
        + "\(HumanUnits.bytes(figures.deadBytes)) dead"
        + (sample.statistics.settings.capacity.map { ", of \(HumanUnits.bytes($0)) at most" } ?? "")
    )
    add("segments", "\(NumberText.count(sample.segments)), \(NumberText.count(sample.sealedSegments)) sealed")
    add("writes", "\(perSecond(rates?.writes))/s \(sparkline)")
    guard sample.source == .published else { return lines }
    add("", latencies(rates?.puts))
    add("gets", "about \(perSecond(rates?.gets))/s")
    add("", latencies(rates?.getTimes))
    add("syncs", "\(perSecond(rates?.syncs))/s")
    add("", latencies(rates?.syncTimes))
    add(
      "disk",
      "\(HumanUnits.bytes(whole(rates?.bytesLogged ?? 0)))/s logged, "
        + "\(HumanUnits.bytes(whole(rates?.bytesWritten ?? 0)))/s written"
    )
    let merged = figures.merged
    add(
      "merges",
      "\(NumberText.count(figures.merges)), \(HumanUnits.bytes(merged.bytesFreed)) reclaimed, "
        + "\(HumanUnits.bytes(merged.bytesWritten)) copied"
    )
    if sample.statistics.settings.capacity != nil || merged.recordsEvicted > 0 {
      add("evicted", "\(NumberText.count(merged.recordsEvicted, "record")), \(HumanUnits.bytes(merged.bytesEvicted))")
    }
    add(
      "index",
      "\(HumanUnits.bytes(figures.indexBytes)), \(NumberText.fixed(figures.indexLoad * 100, 0)) % full"
    )
    add(
      "held",
      "\(NumberText.count(figures.openSnapshots, "snapshot")), \(HumanUnits.bytes(figures.pinnedBytes)) pinned"
    )
    return lines
  }

  var origin: String {
    guard let process = sample.processID, let uptime = sample.uptime else {
      return "no published figures: following the log"
    }
    let since = "process \(process), open for \(HumanUnits.duration(seconds: uptime.seconds))"
    return sample.isStale ? since + "; it is not responding: stale figures" : since
  }

  var clock: String { String(time.description.dropFirst(11).prefix(8)) }

  func perSecond(_ rate: Double?) -> String { rate.map { NumberText.count(whole($0)) } ?? "-" }

  /// A rate as an integer; the file it comes from may contain any value.
  private func whole(_ rate: Double) -> Int { Int(exactly: rate.rounded()) ?? .max }

  private func latencies(_ histogram: Statistics.Histogram?) -> String {
    guard let histogram = Self.filled(histogram) else { return "-" }
    let quantiles = [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)].map { name, share in
      "\(name) \(HumanUnits.latency(histogram.quantile(share)))"
    }
    return (quantiles + ["max \(HumanUnits.latency(histogram.maximum))"]).joined(separator: "  ")
  }

  /// A chart in one line.
  private var sparkline: String {
    let steps = Array("▁▂▃▄▅▆▇█")
    let writes = history.writes.suffix(40)
    guard writes.count > 1, let top = writes.max(), top > 0 else { return "" }
    return String(writes.map { steps[min(steps.count - 1, Int($0 / top * Double(steps.count - 1) + 0.5))] })
  }

  // MARK: For programs

  /// One JSON object and a newline. Scripts rely on the names.
  var json: [UInt8] {
    let figures = sample.statistics
    return JSONWriter.line { writer in
      writer.field("time", time)
      writer.field("source", sample.source.rawValue)
      writer.field("process", sample.processID.map { Int($0) })
      writer.field("stale", sample.isStale)
      writer.fields([
        "keys": figures.keys, "liveBytes": figures.liveBytes, "deadBytes": figures.deadBytes,
        "bytesOnDisk": figures.bytesOnDisk, "segments": sample.segments, "sealedSegments": sample.sealedSegments,
        "indexBytes": figures.indexBytes,
      ])
      writer.field("lastSequence", figures.lastSequence.rawValue)
      writer.field("writesPerSecond", rates?.writes)
      writer.field("getsPerSecond", rates?.gets)
      writer.field("syncsPerSecond", rates?.syncs)
      writer.field("bytesLoggedPerSecond", rates?.bytesLogged)
      writer.field("bytesWrittenPerSecond", rates?.bytesWritten)
      guard sample.source == .published else { return }
      writer.fields([
        "merges": figures.merges, "bytesFreed": figures.merged.bytesFreed,
        "recordsEvicted": figures.merged.recordsEvicted, "openSnapshots": figures.openSnapshots,
        "pinnedBytes": figures.pinnedBytes,
      ])
      writer.field("putMicroseconds", latencies: Self.filled(rates?.puts))
      writer.field("getMicroseconds", latencies: Self.filled(rates?.getTimes))
      writer.field("syncMicroseconds", latencies: Self.filled(rates?.syncTimes))
    }
  }

  /// Nil for a histogram without a call.
  static func filled(_ histogram: Statistics.Histogram?) -> Statistics.Histogram? {
    histogram.flatMap { $0.count > 0 ? $0 : nil }
  }
}

extension JSONWriter {
  /// A field whose value is an object of quantiles in microseconds, or null.
  mutating func field(_ name: String, latencies: Statistics.Histogram?) {
    object(name, of: latencies) { writer, histogram in
      for (name, duration) in [
        ("p50", histogram.quantile(0.5)), ("p99", histogram.quantile(0.99)), ("p99.9", histogram.quantile(0.999)),
        ("max", histogram.maximum),
      ] {
        writer.field(name, (duration.seconds * 1e9).rounded() / 1000)
      }
    }
  }
}

extension HumanUnits {
  /// `850 ns`, `12.3 µs`, `4.50 ms`, `1.20 s`.
  static func latency(_ duration: Duration) -> String {
    var value = duration.seconds * 1e9
    for unit in ["ns", "µs", "ms"] {
      if value < 999.5 { return "\(unit == "ns" ? NumberText.fixed(value, 0) : NumberText.significant(value)) \(unit)" }
      value /= 1000
    }
    return "\(NumberText.significant(value)) s"
  }
}
