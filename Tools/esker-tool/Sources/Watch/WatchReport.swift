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
    var text = "\(clock) \(HumanUnits.count(figures.keys, "key")), \(perSecond(rates?.writes)) writes/s"
    if let gets = rates?.gets { text += ", \(perSecond(gets)) gets/s" }
    if let syncs = rates?.syncs { text += ", \(perSecond(syncs)) syncs/s" }
    text += ", live \(HumanUnits.bytes(figures.liveBytes)), dead \(HumanUnits.bytes(figures.deadBytes))"
    text += ", on disk \(HumanUnits.bytes(figures.bytesOnDisk)), \(HumanUnits.count(sample.segments, "segment"))"
    if sample.source == .published { text += ", \(HumanUnits.count(figures.merges, "merge"))" }
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
    add("keys", HumanUnits.count(figures.keys))
    add(
      "space",
      "\(HumanUnits.bytes(figures.bytesOnDisk)) on disk, \(HumanUnits.bytes(figures.liveBytes)) live, "
        + "\(HumanUnits.bytes(figures.deadBytes)) dead"
        + (sample.statistics.settings.capacity.map { ", of \(HumanUnits.bytes($0)) at most" } ?? "")
    )
    add("segments", "\(HumanUnits.count(sample.segments)), \(HumanUnits.count(sample.sealedSegments)) sealed")
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
      "\(HumanUnits.count(figures.merges)), \(HumanUnits.bytes(merged.bytesFreed)) reclaimed, "
        + "\(HumanUnits.bytes(merged.bytesWritten)) copied"
    )
    if sample.statistics.settings.capacity != nil || merged.recordsEvicted > 0 {
      add("evicted", "\(HumanUnits.count(merged.recordsEvicted, "record")), \(HumanUnits.bytes(merged.bytesEvicted))")
    }
    add(
      "index",
      "\(HumanUnits.bytes(figures.indexBytes)), \(HumanUnits.fixed(figures.indexLoad * 100, 0)) % full"
    )
    add(
      "held",
      "\(HumanUnits.count(figures.openSnapshots, "snapshot")), \(HumanUnits.bytes(figures.pinnedBytes)) pinned"
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

  var clock: String { String(timestamp(time).dropFirst(11).prefix(8)) }

  func perSecond(_ rate: Double?) -> String { rate.map { HumanUnits.count(whole($0)) } ?? "-" }

  /// A rate as an integer; the file it comes from may contain any value.
  private func whole(_ rate: Double) -> Int { Int(exactly: rate.rounded()) ?? .max }

  private func latencies(_ histogram: Statistics.Histogram?) -> String {
    guard let histogram, histogram.count > 0 else { return "-" }
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
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("time")
    writer.value(timestamp(time))
    writer.name("source")
    writer.value(sample.source.rawValue)
    writer.name("process")
    if let process = sample.processID { writer.value(Int(process)) } else { writer.null() }
    writer.name("stale")
    writer.value(sample.isStale)
    for (name, value) in [
      ("keys", figures.keys), ("liveBytes", figures.liveBytes), ("deadBytes", figures.deadBytes),
      ("bytesOnDisk", figures.bytesOnDisk), ("segments", sample.segments), ("sealedSegments", sample.sealedSegments),
      ("indexBytes", figures.indexBytes),
    ] {
      writer.name(name)
      writer.value(value)
    }
    writer.name("lastSequence")
    writer.value(figures.lastSequence.rawValue)
    for (name, rate) in [
      ("writesPerSecond", rates?.writes), ("getsPerSecond", rates?.gets), ("syncsPerSecond", rates?.syncs),
      ("bytesLoggedPerSecond", rates?.bytesLogged), ("bytesWrittenPerSecond", rates?.bytesWritten),
    ] {
      writer.name(name)
      if let rate { writer.value(rate) } else { writer.null() }
    }
    if sample.source == .published { addPublished(to: &writer) }
    writer.endObject()
    writer.newline()
    return writer.bytes
  }

  private func addPublished(to writer: inout JSONWriter) {
    let figures = sample.statistics
    for (name, value) in [
      ("merges", figures.merges), ("bytesFreed", figures.merged.bytesFreed),
      ("recordsEvicted", figures.merged.recordsEvicted), ("openSnapshots", figures.openSnapshots),
      ("pinnedBytes", figures.pinnedBytes),
    ] {
      writer.name(name)
      writer.value(value)
    }
    for (name, histogram) in [
      ("putMicroseconds", rates?.puts), ("getMicroseconds", rates?.getTimes), ("syncMicroseconds", rates?.syncTimes),
    ] {
      writer.name(name)
      guard let histogram, histogram.count > 0 else {
        writer.null()
        continue
      }
      writer.value(latencies: histogram)
    }
  }
}

extension JSONWriter {
  /// An object of quantiles in microseconds.
  mutating func value(latencies histogram: Statistics.Histogram) {
    beginObject()
    for (name, duration) in [
      ("p50", histogram.quantile(0.5)), ("p99", histogram.quantile(0.99)), ("p99.9", histogram.quantile(0.999)),
      ("max", histogram.maximum),
    ] {
      self.name(name)
      value((duration.seconds * 1e9).rounded() / 1000)
    }
    endObject()
  }
}

extension HumanUnits {
  /// `850 ns`, `12.3 µs`, `4.50 ms`, `1.20 s`.
  static func latency(_ duration: Duration) -> String {
    var value = duration.seconds * 1e9
    for unit in ["ns", "µs", "ms"] {
      if value < 999.5 { return "\(unit == "ns" ? fixed(value, 0) : significant(value)) \(unit)" }
      value /= 1000
    }
    return "\(significant(value)) s"
  }
}
