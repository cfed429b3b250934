extension Statistics: CustomStringConvertible {
  /// A line for each kind of figure, such as `keys       1,204 in 2 keyspaces`.
  ///
  /// For people to read: what it says and how may change. The properties are for programs.
  public var description: String {
    var lines = [
      ("keys", "\(Figures.count(keys)) in \(Figures.count(keyspaces.count, "keyspace"))"),
      (
        "disk",
        "\(Figures.bytes(bytesOnDisk)) in \(Figures.count(segments.count, "segment")): "
          + "\(Figures.bytes(liveBytes)) live, \(Figures.bytes(deadBytes)) dead"
      ),
      ("index", "\(Figures.bytes(indexBytes)) of memory, \(Figures.percent(indexLoad)) full"),
      ("history", "last write \(lastSequence), durable up to \(durableSequence)"),
      (
        "written",
        "\(Figures.count(recordsWritten, "record")) of \(Figures.bytes(bytesLogged)) logged, "
          + "\(Figures.bytes(bytesWritten)) to disk"
      ),
    ]
    if pinnedBytes > 0 { lines.append(("pinned", "\(Figures.bytes(pinnedBytes)) of files that were merged away")) }
    if openSnapshots > 0 { lines.append(("snapshots", "\(Figures.count(openSnapshots)) open")) }
    if merges > 0 { lines.append(("merges", "\(Figures.count(merges)): \(merged)")) }
    if puts.count > 0 { lines.append(("puts", "\(puts)")) }
    if gets.count > 0 { lines.append(("gets", "\(gets)")) }
    if syncs.count > 0 { lines.append(("syncs", "\(syncs)")) }
    let width = lines.map(\.0.count).max() ?? 0
    return lines.map { $0.0 + String(repeating: " ", count: width - $0.0.count) + "  " + $0.1 }.joined(separator: "\n")
  }
}

extension Statistics.SegmentFigures: CustomStringConvertible {
  /// The segment in one line, such as `segment 3: 64.0 MB, 12.1 MB live, merged, packed from 130 MB`.
  public var description: String {
    var text = "segment \(id): \(Figures.bytes(fileBytes)), \(Figures.bytes(liveBytes)) live"
    if !isSealed { text += ", open" }
    if isMerged { text += ", merged" }
    if isPacked { text += ", packed from \(Figures.bytes(unpackedBytes))" }
    return text
  }
}

extension Statistics.Histogram: CustomStringConvertible {
  /// The number, the median, the 99th percentile and the longest, such as
  /// `1,204 timed: median 640 ns, p99 4.10 µs, longest 1.25 ms`.
  public var description: String {
    guard count > 0 else { return "none timed" }
    return "\(Figures.count(count)) timed: median \(Figures.time(quantile(0.5))), p99 \(Figures.time(quantile(0.99))), "
      + "longest \(Figures.time(maximum))"
  }
}

extension Report.Merge: CustomStringConvertible {
  /// What was removed, written and freed, such as `4 segments into 1, 120 MB freed`.
  public var description: String {
    var text =
      "\(Figures.count(segmentsRemoved, "segment")) into \(Figures.count(segmentsWritten)), \(Figures.bytes(bytesFreed)) freed"
    if recordsEvicted > 0 { text += ", \(Figures.count(recordsEvicted, "record")) evicted" }
    return text
  }
}
