#if Metrics
  public import CoreMetrics
  public import Esker

  extension LogStore {
    /// Reports the store's statistics every `interval`, starting at once, until the observation is cancelled or released or
    /// the store is gone. It does not keep the store open, and costs nothing between reports.
    ///
    /// Names begin with `label` and an underscore.
    ///
    /// | Kind | Names |
    /// |---|---|
    /// | meters | `keys`, `live_bytes`, `dead_bytes`, `disk_bytes`, `pinned_bytes`, `segments`, `index_bytes`, `order_bytes`, `keyspace_keys` and `keyspace_bytes` (by `keyspace`), `index_load`, `space_amplification`, `unsynced_writes`, `open_snapshots` |
    /// | counters | `written_records`, `logged_bytes`, `written_bytes`, `syncs`, `merges`, `merged_bytes`, `evicted_records` |
    /// | timers | `put_duration`, `get_duration`, `sync_duration` |
    ///
    /// A timer receives at most 100 durations per report, evenly spaced among those measured since the last report: their
    /// distribution is accurate, their number is not; the store measures one in 128 puts and gets.
    ///
    /// - Parameters:
    ///   - interval: The time between two reports; at least a millisecond.
    ///   - label: The prefix of all names.
    ///   - dimensions: Attached to every metric, to tell stores apart.
    ///   - factory: Receives the metrics; the system's by default.
    public func reportMetrics(
      every interval: Duration,
      label: String = "esker",
      dimensions: [(String, String)] = [],
      to factory: any MetricsFactory = MetricsSystem.factory
    ) -> ObservationToken {
      let instruments = Instruments(label, dimensions, factory)
      return polling(every: interval) { [weak self] in
        guard let self else { return false }
        instruments.report(statistics)
        return true
      }
    }
  }

  extension Instruments {
    fileprivate func report(_ statistics: Statistics) {
      set("keys", statistics.keys)
      set("live_bytes", statistics.liveBytes)
      set("dead_bytes", statistics.deadBytes)
      set("disk_bytes", statistics.bytesOnDisk)
      set("pinned_bytes", statistics.pinnedBytes)
      set("segments", statistics.segments.count)
      set("index_bytes", statistics.indexBytes)
      set("order_bytes", statistics.orderBytes)
      set("index_load", statistics.indexLoad)
      for (name, keyspace) in statistics.keyspaces {
        set("keyspace_keys", keyspace.keys, ("keyspace", name))
        set("keyspace_bytes", keyspace.liveBytes, ("keyspace", name))
      }
      set("space_amplification", statistics.spaceAmplification)
      set(
        "unsynced_writes",
        statistics.lastSequence.rawValue - min(statistics.lastSequence, statistics.durableSequence).rawValue
      )
      set("open_snapshots", statistics.openSnapshots)
      count("written_records", statistics.recordsWritten)
      count("logged_bytes", statistics.bytesLogged)
      count("written_bytes", statistics.bytesWritten)
      count("syncs", statistics.syncs.count)
      count("merges", statistics.merges)
      count("merged_bytes", statistics.merged.bytesRead)
      count("evicted_records", statistics.merged.recordsEvicted)
      record("put_duration", statistics.puts)
      record("get_duration", statistics.gets)
      record("sync_duration", statistics.syncs)
    }
  }
#endif
