extension Options: CustomStringConvertible {
  /// The settings that say something, in one line, such as `durability synced, segments of 67.1 MB, read-only`.
  public var description: String {
    var parts: [String] = []
    func add<Setting>(_ setting: Setting?, _ text: (Setting) -> String) {
      if let setting { parts.append(text(setting)) }
    }
    add(durability) { "durability \($0)" }
    add(defaultExpiry) { "expiry \($0)" }
    add(segmentSize) { "segments of \(NumberText.bytes($0))" }
    add(compression) { "compression \($0)" }
    add(capacity) { $0 == .max ? "no limit of capacity" : "capacity \(NumberText.bytes($0))" }
    if !merge.isAutomatic { parts.append("no automatic merges") }
    add(merge.bytesPerSecond) { "merges of \(NumberText.bytes($0)) a second" }
    if erasure != .whenMerged { parts.append("erased \(erasure)") }
    switch verification {
    case .onceInMemory: break
    case .everyRead: parts.append("every read verified")
    case .openingOnly: parts.append("reads not verified")
    }
    add(fileProtection) { "protection \($0)" }
    add(isExcludedFromBackup) { $0 ? "excluded from backups" : "included in backups" }
    if readOnly { parts.append("read-only") }
    if case .inTurn(let patience) = sharing { parts.append("writes in turn, within \(patience)") }
    add(statisticsInterval) { "statistics every \($0)" }
    return parts.isEmpty ? "defaults" : parts.joined(separator: ", ")
  }
}

extension Durability: CustomStringConvertible {
  /// `buffered`, `synced`, or `periodic, every 1.0 seconds`.
  public var description: String {
    switch self {
    case .buffered: "buffered"
    case .synced: "synced"
    case .periodic(let interval): "periodic, every \(interval)"
    }
  }
}

extension Options.Compression: CustomStringConvertible {
  /// `off`, or `LZ4 level 4`.
  public var description: String {
    level.map { "LZ4 level \($0)" } ?? "off"
  }
}
