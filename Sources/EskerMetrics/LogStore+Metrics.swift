#if Metrics
  public import CoreMetrics
  public import Esker

  extension LogStore {
    /// Reports the store's figures every `interval`, the first time at once, until the observation is cancelled or released or
    /// the store is gone. It does not keep the store open, and costs nothing in between.
    ///
    /// Names begin with `label` and an underscore.
    ///
    /// | Kind | Names |
    /// |---|---|
    /// | meters | `keys`, `live_bytes`, `dead_bytes`, `disk_bytes`, `pinned_bytes`, `segments`, `index_bytes`, `index_load`, `space_amplification`, `unsynced_writes`, `open_snapshots` |
    /// | counters | `written_records`, `logged_bytes`, `written_bytes`, `syncs`, `merges`, `merged_bytes`, `evicted_records` |
    /// | timers | `put_duration`, `get_duration`, `sync_duration` |
    ///
    /// A timer is given at most 100 durations at a time, evenly spaced among those that the store has measured since the last
    /// time: their distribution is true, their number is not; of puts and gets the store measures one in 128.
    ///
    /// - Parameters:
    ///   - interval: the time between two reports; at least a millisecond.
    ///   - label: what the names of all figures begin with.
    ///   - dimensions: given with each figure, to tell stores apart.
    ///   - factory: where the figures go; the system's if nothing is said.
    public func reportMetrics(
      every interval: Duration,
      label: String = "esker",
      dimensions: [(String, String)] = [],
      to factory: any MetricsFactory = MetricsSystem.factory
    ) -> Observation {
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
      set("index_load", statistics.indexLoad)
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
