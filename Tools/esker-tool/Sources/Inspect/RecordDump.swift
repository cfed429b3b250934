import Esker
import EskerTools

/// The bytes of one record, field by field.
struct RecordDump {
  private let anatomy: RecordAnatomy
  private let place: RecordPlace
  private let showsAll: Bool
  private let keys: StoredForm

  /// The number of bytes shown of a field unless all are requested.
  private static let shownBytes = 256

  init(_ inspection: StoreInspection, _ place: RecordPlace, showsAll: Bool) throws {
    guard inspection.segments.contains(where: { $0.id == place.segment }) else {
      throw ToolError.noSegment(place.segment, path: inspection.path)
    }
    anatomy = try inspection.record(at: place.offset, of: place.segment)
    keys = anatomy.record.map { inspection.shownKeys(ofKeyspace: $0.keyspaceID) } ?? .raw
    self.place = place
    self.showsAll = showsAll
  }

  func write(asJSON: Bool, to output: inout BufferedOutput) throws {
    if asJSON {
      try output.write(json())
    } else {
      try output.write(summary(in: .output) + "\n")
      try writeFields(in: .output, to: &output)
    }
    try output.flush()
    if anatomy.damage != nil { throw ToolError.damageFound }
  }

  private func summary(in terminal: Terminal) -> String {
    var pairs = Pairs([("segment", .number(place.segment)), ("offset", .number(UInt64(place.offset)))])
    if let record = anatomy.record {
      pairs.add("record", .word("\(record.kind.rawValue) \(record.sequence)"))
      if !record.key.isEmpty { pairs.add("key", .key(record.key, keys)) }
      if let name = record.keyspace, !name.isEmpty { pairs.add("keyspace", .text(name)) }
    }
    pairs.add("bytes", .count(anatomy.range.count))
    pairs.add("check", anatomy.damage.map { .word($0, .bad) } ?? .word("ok", .good))
    return pairs.text(in: terminal)
  }

  private func writeFields(in terminal: Terminal, to output: inout BufferedOutput) throws {
    var table = Table([.right("OFFSET"), .left("BYTES"), .left("FIELD"), .left("VALUE")], in: terminal)
    // Sixteen bytes per row would leave no room for the value on a terminal of the usual width.
    let together = terminal.columns.map { $0 < 100 ? 8 : 16 } ?? 16
    for field in anatomy.fields {
      var start = field.range.lowerBound
      let end = shownEnd(of: field)
      while start < end {
        let range = start..<min(start + together, end)
        let bytes = anatomy.bytes(in: range)
        try table.add(
          [
            .number(UInt64(start)),
            .word(bytes.map(hex).joined(separator: " ")),
            .word(start == field.range.lowerBound ? field.name : ""),
            value(of: field, bytes),
          ],
          to: &output
        )
        start = range.upperBound
      }
      if end < field.range.upperBound {
        let rest = NumberText.count(field.range.upperBound - end, "more byte")
        try table.add([.none, .none, .word(""), .word(rest, .faint)], to: &output)
      }
    }
    try table.flush(to: &output)
  }

  private func shownEnd(of field: RecordAnatomy.Field) -> Int {
    showsAll ? field.range.upperBound : min(field.range.upperBound, field.range.lowerBound + Self.shownBytes)
  }

  private func value(of field: RecordAnatomy.Field, _ bytes: [UInt8]) -> Cell {
    switch field.value {
    case .number(let number): .number(number)
    case .hash(let hash): .word("0x" + String(hash, radix: 16))
    case .word(let word): .word(word)
    case .instant(let time): .instant(time)
    // Whether bytes are text is decided row by row: a row may begin in the middle of a character.
    case .bytes: .bytes(bytes)
    case .padding: .word("")
    }
  }

  private func json() -> [UInt8] {
    JSONWriter.line { writer in
      writer.field("segment", place.segment)
      writer.field("offset", place.offset)
      writer.field("start", anatomy.range.lowerBound)
      writer.field("length", anatomy.range.count)
      writer.field("damage", anatomy.damage)
      writer.object("record", of: anatomy.record) { $0.fields($1) }
      writer.list("fields", anatomy.fields) { writer, field in
        writer.field("name", field.name)
        writer.field("offset", field.range.lowerBound)
        writer.field("length", field.range.count)
        writer.field("hex", anatomy.bytes(in: field.range.lowerBound..<shownEnd(of: field)).map(hex).joined())
        switch field.value {
        case .number(let number): writer.field("value", number)
        case .hash(let hash): writer.field("value", "0x" + String(hash, radix: 16))
        case .word(let word): writer.field("value", word)
        case .instant(let time): writer.field("value", time)
        case .bytes, .padding: break
        }
      }
    }
  }
}
