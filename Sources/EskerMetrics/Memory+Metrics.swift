#if Metrics
  public import CoreMetrics
  public import Esker

  extension MemoryStorage {
    /// Reports what memory holds and did every `interval`, the first time at once, until the observation is cancelled or
    /// released. The observation keeps the storage.
    ///
    /// Names begin with `label` and an underscore. Meters: `count`, `cost`. Counters: `hits`, `misses`, `evictions`,
    /// `expirations`.
    ///
    /// - Parameters:
    ///   - interval: the time between two reports; at least a millisecond.
    ///   - label: what the names of all figures begin with.
    ///   - dimensions: given with each figure, to tell storages apart.
    ///   - factory: where the figures go; the system's if nothing is said.
    public func reportMetrics(
      every interval: Duration,
      label: String = "esker_memory",
      dimensions: [(String, String)] = [],
      to factory: any MetricsFactory = MetricsSystem.factory
    ) -> Observation {
      reporting(every: interval, Instruments(label, dimensions, factory)) { self.statistics }
    }
  }

  extension HybridStorage {
    /// Reports what memory ahead of the storage holds and did, as `MemoryStorage.reportMetrics`
    /// does.
    public func reportMetrics(
      every interval: Duration,
      label: String = "esker_memory",
      dimensions: [(String, String)] = [],
      to factory: any MetricsFactory = MetricsSystem.factory
    ) -> Observation {
      reporting(every: interval, Instruments(label, dimensions, factory)) { self.statistics }
    }
  }

  private func reporting(
    every interval: Duration,
    _ instruments: Instruments,
    _ statistics: @escaping @Sendable () -> MemoryStatistics
  ) -> Observation {
    polling(every: interval) {
      let now = statistics()
      instruments.set("count", now.count)
      instruments.set("cost", now.cost)
      instruments.count("hits", now.hits)
      instruments.count("misses", now.misses)
      instruments.count("evictions", now.evictions)
      instruments.count("expirations", now.expirations)
      return true
    }
  }
#endif
