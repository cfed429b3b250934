import Esker

extension StatisticsReport {
  /// What Prometheus collects of an open store, and of the process that writes to it, unless that has ended since.
  static func prometheus(of store: LogStore) -> String {
    let report = StatisticsReport(path: store.path, statistics: store.statistics)
    return report.prometheus(StoreSample.published(at: store.path))
  }

  /// What Prometheus collects. Dashboards rely on the names: add families, but never rename or drop one.
  ///
  /// - Parameter published: What the process that writes has published. What a process counts from its opening of the store on, as
  ///   merges and latencies, is only there.
  func prometheus(_ published: Statistics.Published?) -> String {
    var text = PrometheusText(labels: [("store", path)])
    text.family("esker_keys", .gauge, "Keys, with those that have expired and are not yet removed.")
    let keyspaces = statistics.keyspaces.sorted { $0.key < $1.key }
    for (name, keyspace) in keyspaces { text.sample("esker_keys", "\(keyspace.keys)", [("keyspace", name)]) }
    text.family(
      "esker_keyspace_bytes",
      .gauge,
      "Bytes of the newest records of the keys, as long as they are not packed."
    )
    for (name, keyspace) in keyspaces {
      text.sample("esker_keyspace_bytes", "\(keyspace.liveBytes)", [("keyspace", name)])
    }
    text.add("esker_live_bytes", .gauge, statistics.liveBytes, "Bytes of the newest records of all keys.")
    text.add("esker_dead_bytes", .gauge, statistics.deadBytes, "Bytes of records that were replaced or removed.")
    text.add("esker_disk_bytes", .gauge, statistics.bytesOnDisk, "Bytes allocated for the files.")
    if let capacity = statistics.settings.capacity {
      text.add("esker_capacity_bytes", .gauge, capacity, "The most that the files may take.")
    }
    text.add("esker_index_load_ratio", .gauge, statistics.indexLoad, "The share of the index's main slots in use.")
    text.family("esker_segments", .gauge, "Segments: those that take records, and those that take no more.")
    let sealed = statistics.segments.count { $0.isSealed }
    text.sample("esker_segments", "\(statistics.segments.count - sealed)", [("state", "active")])
    text.sample("esker_segments", "\(sealed)", [("state", "sealed")])
    text.add("esker_writes_total", .counter, statistics.lastSequence.rawValue, "Writes in the life of the store.")
    let durable = statistics.durableSequence.rawValue
    text.add("esker_durable_writes_total", .counter, durable, "Writes that survive a power failure.")
    if let published { text.add(published) }
    return text.text
  }
}

extension PrometheusText {
  fileprivate mutating func add(_ published: Statistics.Published) {
    let figures = published.statistics
    let merged = figures.merged
    let (opened, told) = (Self.seconds(published.openedAt), Self.seconds(published.publishedAt))
    add("esker_opened_timestamp_seconds", .gauge, opened, "When the process opened the store.")
    add("esker_published_timestamp_seconds", .gauge, told, "When the process published these figures.")
    add("esker_index_bytes", .gauge, figures.indexBytes, "Size of the index, with what it maps of a checkpoint.")
    add("esker_open_snapshots", .gauge, figures.openSnapshots, "Open snapshots.")
    add("esker_pinned_bytes", .gauge, figures.pinnedBytes, "Bytes of merged files that are still in use.")
    add("esker_logged_bytes_total", .counter, figures.bytesLogged, "Bytes of records logged since the opening.")
    add("esker_written_bytes_total", .counter, figures.bytesWritten, "Bytes written to disk since the opening.")
    add("esker_merges_total", .counter, figures.merges, "Merges since the opening.")
    add("esker_merge_read_bytes_total", .counter, merged.bytesRead, "Bytes that merges have read.")
    add("esker_merge_written_bytes_total", .counter, merged.bytesWritten, "Bytes that merges have written.")
    add("esker_evicted_entries_total", .counter, merged.recordsEvicted, "Entries evicted to stay within the capacity.")
    add("esker_evicted_bytes_total", .counter, merged.bytesEvicted, "Bytes of evicted entries.")
    add("esker_put_duration_seconds", figures.puts, "How long puts took, one in 128.")
    add("esker_get_duration_seconds", figures.gets, "How long gets of one key took, one in 128.")
    add("esker_sync_duration_seconds", figures.syncs, "How long syncs took.")
  }

  private mutating func add(_ name: String, _ histogram: Statistics.Histogram, _ help: String) {
    family(name, .histogram, help)
    var count = 0
    for (bucket, number) in histogram.counts.enumerated() {
      count += number
      let end = Statistics.Histogram.range(of: bucket).upperBound
      // Each power of two from a microsecond to a minute: finer ones would be hundreds.
      guard bucket % 4 == 3, end >= .microseconds(1), end <= .seconds(70) else { continue }
      sample(name + "_bucket", "\(count)", [("le", Self.number(end.seconds))])
    }
    sample(name + "_bucket", "\(histogram.count)", [("le", "+Inf")])
    sample(name + "_sum", Self.number(histogram.total.seconds))
    sample(name + "_count", "\(histogram.count)")
  }

  private static func seconds(_ time: WallTime) -> Double { Double(time.millisecondsSince1970) / 1000 }
}
