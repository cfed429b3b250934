import Esker

/// A store's statistics, as text or JSON.
///
/// Counters that start when a store is opened are left out: here they would describe the tool, not the store.
struct StatisticsReport {
  let path: String
  let statistics: Statistics
  /// What openings have found.
  var history = Report.History()
  /// The process that has the store open for writing; nil if none has, 0 if its id is not known.
  var writer: Int32?
  /// Whether the text names the commands that help if that is too much.
  var advises = false

  private var parts: DiskParts { DiskParts(statistics, of: path) }

  private var keyspaceNames: [String] { statistics.keyspaces.keys.sorted() }

  /// One figure per line, aligned.
  func text(in terminal: Terminal) -> String {
    let sealed = statistics.segments.count { $0.isSealed }
    var pairs = Pairs()
    pairs.add("store", .text(path))
    pairs.add("writer", .word(writer.map { $0 == 0 ? "unknown process" : "process \($0)" } ?? "none"))
    pairs.add("keys, with expired", .count(statistics.keys))
    let parts = parts
    pairs.add("live", .size(parts.live))
    pairs.add("dead", .size(parts.dead))
    pairs.add("allocated ahead", .size(parts.ahead))
    pairs.add("reserve", .size(parts.reserve))
    pairs.add("checkpoint", .size(parts.checkpoints))
    pairs.add("headers and others", .size(parts.others))
    pairs.add("on disk", .size(statistics.bytesOnDisk))
    pairs.add("space amplification", .decimal(statistics.spaceAmplification, 2))
    pairs.add("index", .size(statistics.indexBytes))
    pairs.add("index load", .word(NumberText.fixed(statistics.indexLoad * 100, 1) + " %"))
    pairs.add("last write", .word(statistics.lastSequence.description))
    pairs.add("last durable write", .word(statistics.durableSequence.description))
    pairs.add("segments", .word("\(NumberText.count(statistics.segments.count)), \(NumberText.count(sealed)) sealed"))
    pairs.add(statistics.settings)
    for name in keyspaceNames where !name.isEmpty {
      guard let keyspace = statistics.keyspaces[name] else { continue }
      pairs.add("keyspace \(escaped(Array(name.utf8)))", .word(description(of: keyspace)))
    }
    if statistics.orderBytes > 0 { pairs.add("keys in order", .size(statistics.orderBytes)) }
    pairs.add(history)
    if advises {
      let path = quotedForShell(path)
      if statistics.deadBytes > 0 { pairs.add("to free the dead", .word("esker merge \(path)")) }
      pairs.add("to see the live", .word("esker big \(path)"))
    }
    return pairs.text(in: terminal)
  }

  private func description(of keyspace: Statistics.KeyspaceFigures) -> String {
    var text = "\(NumberText.count(keyspace.keys, "key")) of \(HumanUnits.bytes(keyspace.liveBytes))"
    let limits = [
      keyspace.capacityBytes.map { HumanUnits.bytes($0) },
      keyspace.capacityEntries.map { NumberText.count($0, "key") },
    ].compactMap { $0 }
    if !limits.isEmpty { text += ", at most \(limits.joined(separator: " and "))" }
    return text
  }

  /// One JSON object and a newline.
  ///
  /// Scripts rely on the names: add fields, but never rename or drop one.
  var json: [UInt8] {
    let parts = parts
    return JSONWriter.line { writer in
      writer.field("path", path)
      writer.field("writerProcess", self.writer.map { Int($0) })
      writer.fields([
        "keys": statistics.keys, "liveBytes": statistics.liveBytes, "deadBytes": statistics.deadBytes,
        "aheadBytes": parts.ahead, "reserveBytes": parts.reserve, "checkpointBytes": parts.checkpoints,
        "otherBytes": parts.others, "bytesOnDisk": statistics.bytesOnDisk,
      ])
      writer.field("spaceAmplification", statistics.spaceAmplification)
      writer.field("indexBytes", statistics.indexBytes)
      writer.field("indexLoad", statistics.indexLoad)
      writer.field("lastSequence", statistics.lastSequence.rawValue)
      writer.field("durableSequence", statistics.durableSequence.rawValue)
      writer.field("settings", statistics.settings)
      writer.object("keyspaces") { writer in
        for name in keyspaceNames { writer.field(name, statistics.keyspaces[name]?.keys) }
      }
      writer.object("keyspaceBytes") { writer in
        for name in keyspaceNames { writer.field(name, statistics.keyspaces[name]?.liveBytes) }
      }
      writer.object("orderBytes") { writer in
        for name in keyspaceNames {
          if let bytes = statistics.keyspaces[name]?.orderBytes { writer.field(name, bytes) }
        }
      }
      writer.list("segments", statistics.segments) { writer, segment in
        writer.field("id", segment.id)
        writer.field("path", segment.path)
        writer.field("merged", segment.isMerged)
        writer.field("sealed", segment.isSealed)
        writer.field("recordBytes", segment.recordBytes)
        writer.field("liveBytes", segment.liveBytes)
        writer.field("fileBytes", segment.fileBytes)
        writer.field("firstSequence", segment.sequences?.lowerBound)
        writer.field("lastSequence", segment.sequences?.upperBound)
      }
      writer.fields(history)
    }
  }
}
