import Esker

// What a store remembers of its options, as text and JSON.

extension Pairs {
  /// Adds a line for each setting.
  mutating func add(_ settings: Options.Settings) {
    add("durability", .word(settings.durability.words))
    add("default expiry", .word(settings.defaultExpiry.words))
    add("segment size", .size(settings.segmentSize))
    add("compression", .word(settings.compression.level.map { "LZ4, level \($0)" } ?? "none"))
    add("capacity", settings.capacity.map { .size($0) } ?? .word("no limit"))
  }
}

extension JSONWriter {
  /// Adds an object of the settings; null stands for never, none and no limit.
  mutating func field(_ name: String, _ settings: Options.Settings) {
    let (durability, period): (String, Double?) =
      switch settings.durability {
      case .buffered: ("buffered", nil)
      case .synced: ("synced", nil)
      case .periodic(let time): ("periodic", time.seconds)
      }
    var lifetime: Double?
    if case .after(let time) = settings.defaultExpiry { lifetime = time.seconds }
    object(name) { writer in
      writer.field("durability", durability)
      writer.field("syncPeriodSeconds", period)
      writer.field("defaultExpirySeconds", lifetime)
      writer.field("defaultExpiryInstant", settings.defaultExpiry)
      writer.field("segmentSize", settings.segmentSize)
      writer.field("compression", settings.compression.level == nil ? nil : "lz4")
      writer.field("compressionLevel", settings.compression.level.map { UInt64($0) })
      writer.field("capacity", settings.capacity.map { UInt64(clamping: $0) })
    }
  }
}

extension Durability {
  fileprivate var words: String {
    switch self {
    case .buffered: "buffered"
    case .synced: "synced"
    case .periodic(let time): "periodic, \(HumanUnits.duration(seconds: time.seconds))"
    }
  }
}

extension Expiry {
  fileprivate var words: String {
    switch self {
    case .never: "never"
    case .after(let time): "after \(HumanUnits.duration(seconds: time.seconds))"
    case .at(let time): "at \(time)"
    }
  }
}
