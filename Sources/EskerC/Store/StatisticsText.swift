import EskerLog

extension JSONText {
  /// The figures of a store. Fields are called as by `esker stats --json`, where that has them.
  init(statisticsOf store: LogStore) {
    self.init()
    let statistics = store.statistics
    object(nil) { text in
      text.field("path", store.path)
      text.fields(statistics)
      text.object("settings") { $0.fields(statistics.settings) }
      let keyspaces = statistics.keyspaces.sorted { $0.key < $1.key }
      text.object("keyspaces") { for (name, figures) in keyspaces { $0.field(name, figures.keys) } }
      text.object("keyspaceBytes") { for (name, figures) in keyspaces { $0.field(name, figures.liveBytes) } }
      text.object("puts") { $0.fields(statistics.puts) }
      text.object("gets") { $0.fields(statistics.gets) }
      text.object("syncs") { $0.fields(statistics.syncs) }
      text.field("segmentCount", statistics.segments.count)
    }
  }

  private mutating func fields(_ statistics: Statistics) {
    field("keys", statistics.keys)
    field("liveBytes", statistics.liveBytes)
    field("deadBytes", statistics.deadBytes)
    field("bytesOnDisk", statistics.bytesOnDisk)
    field("spaceAmplification", statistics.spaceAmplification)
    field("writeAmplification", statistics.writeAmplification)
    field("indexBytes", statistics.indexBytes)
    field("indexLoad", statistics.indexLoad)
    field("orderBytes", statistics.orderBytes)
    field("lastSequence", statistics.lastSequence.rawValue)
    field("durableSequence", statistics.durableSequence.rawValue)
    field("recordsWritten", statistics.recordsWritten)
    field("bytesLogged", statistics.bytesLogged)
    field("bytesWritten", statistics.bytesWritten)
    field("merges", statistics.merges)
    field("pinnedBytes", statistics.pinnedBytes)
    field("openSnapshots", statistics.openSnapshots)
  }

  private mutating func fields(_ settings: Options.Settings) {
    let (durability, period): (String, Double?) =
      switch settings.durability {
      case .buffered: ("buffered", nil)
      case .synced: ("synced", nil)
      case .periodic(let time): ("periodic", time / .seconds(1))
      }
    field("durability", durability)
    field("syncPeriodSeconds", period)
    var lifetime: Double?
    if case .after(let time) = settings.defaultExpiry { lifetime = time / .seconds(1) }
    field("defaultExpirySeconds", lifetime)
    field("segmentSize", settings.segmentSize)
    field("compression", settings.compression.level == nil ? nil : "lz4")
    field("compressionLevel", settings.compression.level)
    field("capacity", settings.capacity)
  }

  /// Some calls are timed, and these are they.
  private mutating func fields(_ calls: Statistics.Histogram) {
    field("count", calls.count)
    field("totalSeconds", calls.total / .seconds(1))
    field("maximumSeconds", calls.maximum / .seconds(1))
  }
}
