import EskerLog

/// The figures of a store as JSON. Fields are called as by `esker stats --json`, where that has them.
struct StatisticsText {
  private(set) var bytes: [UInt8] = []
  private var needsComma = false

  init(of store: LogStore) {
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

// JSON.
extension StatisticsText {
  private mutating func object(_ name: String?, _ body: (inout StatisticsText) -> Void) {
    if let name { self.name(name) }
    bytes.append(UInt8(ascii: "{"))
    needsComma = false
    body(&self)
    bytes.append(UInt8(ascii: "}"))
    needsComma = true
  }

  private mutating func field(_ name: String, _ text: String?) {
    self.name(name)
    if let text { quote(text) } else { bytes.append(contentsOf: "null".utf8) }
  }

  /// A number, or null for none and for what is not finite.
  private mutating func field(_ name: String, _ number: Double?) {
    self.name(name)
    bytes.append(contentsOf: (number.flatMap { $0.isFinite ? "\($0)" : nil } ?? "null").utf8)
  }

  private mutating func field<Number: BinaryInteger>(_ name: String, _ number: Number?) {
    self.name(name)
    bytes.append(contentsOf: (number.map { "\($0)" } ?? "null").utf8)
  }

  private mutating func name(_ name: String) {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    quote(name)
    bytes.append(UInt8(ascii: ":"))
    needsComma = true
  }

  private mutating func quote(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
      case 0..<0x20:
        let digits = Array("0123456789abcdef".utf8)
        bytes += Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
