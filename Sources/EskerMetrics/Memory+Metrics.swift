#if Metrics
  public import CoreMetrics
  public import Esker

  extension MemoryStorage {
    /// Reports the storage's contents and counters every `interval`, starting at once, until the observation is cancelled or
    /// released. The observation keeps the storage alive.
    ///
    /// Names begin with `label` and an underscore. Meters: `count`, `cost`. Counters: `hits`, `misses`, `evictions`,
    /// `expirations`.
    ///
    /// - Parameters:
    ///   - interval: The time between two reports; at least a millisecond.
    ///   - label: The prefix of all names.
    ///   - dimensions: Attached to every metric, to tell storages apart.
    ///   - factory: Receives the metrics; the system's by default.
    public func reportMetrics(
      every interval: Duration,
      label: String = "esker_memory",
      dimensions: [(String, String)] = [],
      to factory: any MetricsFactory = MetricsSystem.factory
    ) -> ObservationToken {
      reporting(every: interval, Instruments(label, dimensions, factory)) { self.statistics }
    }
  }

  extension HybridStorage {
    /// Reports the contents and counters of the memory in front of the storage, like `MemoryStorage.reportMetrics`.
    public func reportMetrics(
      every interval: Duration,
      label: String = "esker_memory",
      dimensions: [(String, String)] = [],
      to factory: any MetricsFactory = MetricsSystem.factory
    ) -> ObservationToken {
      reporting(every: interval, Instruments(label, dimensions, factory)) { self.statistics }
    }
  }

  private func reporting(
    every interval: Duration,
    _ instruments: Instruments,
    _ statistics: @escaping @Sendable () -> MemoryStatistics
  ) -> ObservationToken {
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
