extension Statistics: CustomStringConvertible {
  /// A line for each kind of figure, such as `keys       1,204 in 2 keyspaces`.
  ///
  /// For people to read: what it says and how may change. The properties are for programs.
  public var description: String {
    var lines = [
      ("keys", "\(NumberText.count(keys)) in \(NumberText.count(keyspaces.count, "keyspace"))"),
      (
        "disk",
        "\(NumberText.bytes(bytesOnDisk)) in \(NumberText.count(segments.count, "segment")): "
          + "\(NumberText.bytes(liveBytes)) live, \(NumberText.bytes(deadBytes)) dead"
      ),
      ("index", "\(NumberText.bytes(indexBytes)) of memory, \(NumberText.percent(indexLoad)) full"),
      ("history", "last write \(lastSequence), durable up to \(durableSequence)"),
      (
        "written",
        "\(NumberText.count(recordsWritten, "record")) of \(NumberText.bytes(bytesLogged)) logged, "
          + "\(NumberText.bytes(bytesWritten)) to disk"
      ),
    ]
    if pinnedBytes > 0 { lines.append(("pinned", "\(NumberText.bytes(pinnedBytes)) of files that were merged away")) }
    if openSnapshots > 0 { lines.append(("snapshots", "\(NumberText.count(openSnapshots)) open")) }
    if merges > 0 { lines.append(("merges", "\(NumberText.count(merges)): \(merged)")) }
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
    var text = "segment \(id): \(NumberText.bytes(fileBytes)), \(NumberText.bytes(liveBytes)) live"
    if !isSealed { text += ", open" }
    if isMerged { text += ", merged" }
    if isPacked { text += ", packed from \(NumberText.bytes(unpackedBytes))" }
    return text
  }
}

extension Statistics.Histogram: CustomStringConvertible {
  /// The number, the median, the 99th percentile and the longest, such as
  /// `1,204 timed: median 640 ns, p99 4.10 µs, longest 1.25 ms`.
  public var description: String {
    guard count > 0 else { return "none timed" }
    return
      "\(NumberText.count(count)) timed: median \(NumberText.time(quantile(0.5))), p99 \(NumberText.time(quantile(0.99))), "
      + "longest \(NumberText.time(maximum))"
  }
}

extension Report.Merge: CustomStringConvertible {
  /// What was removed, written and freed, such as `4 segments into 1, 120 MB freed`.
  public var description: String {
    var text =
      "\(NumberText.count(segmentsRemoved, "segment")) into \(NumberText.count(segmentsWritten)), \(NumberText.bytes(bytesFreed)) freed"
    if recordsEvicted > 0 { text += ", \(NumberText.count(recordsEvicted, "record")) evicted" }
    return text
  }
}
