import Esker
import EskerTools

/// Lists the records of a segment, one per line, in constant memory.
struct RecordListing {
  private let inspection: StoreInspection
  private let segment: UInt64

  init(_ inspection: StoreInspection, _ segment: UInt64) throws(ToolError) {
    guard inspection.segments.contains(where: { $0.id == segment }) else {
      throw .noSegment(segment, path: inspection.path)
    }
    self.inspection = inspection
    self.segment = segment
  }

  func write(asJSON: Bool, to output: inout BufferedOutput) throws {
    var isIntact = true
    let records = try inspection.records(of: segment)
    var table = Table(RecordRow.columns, in: .output)
    var writer = JSONWriter()
    Interruption.install()
    for element in records {
      try Interruption.check()
      switch element {
      case .record(let record):
        isIntact = isIntact && record.damage == nil
        if !asJSON {
          try table.add(RecordRow.cells(record, inspection.shownKeys(ofKeyspace: record.keyspaceID)), to: &output)
        }
      case .unreadable(let range):
        isIntact = false
        if !asJSON { try table.add(RecordRow.cells(unreadable: range), to: &output) }
      }
      guard asJSON else { continue }
      writer.line { $0.fields(element, segment) }
      try output.write(writer.bytes)
    }
    if !asJSON { try table.flush(to: &output) }
    try output.flush()
    if !isIntact { throw ToolError.damageFound }
  }
}

/// A record as a row of a table.
enum RecordRow {
  static let columns: [Table.Column] = [
    .right("OFFSET"), .right("WRITE"), .left("KIND"), .right("SIZE"), .left("CHECK"),
    .right("VALUE", isOptional: true), .left("EXPIRES", isOptional: true), .left("BATCH", isOptional: true),
    .left("KEYSPACE", isOptional: true), .left("KEY"),
  ]

  static func cells(_ record: RecordDescription, _ keys: StoredForm) -> [Cell] {
    [
      .number(UInt64(record.offset)),
      .number(record.sequence.rawValue),
      .word(record.kind.rawValue),
      .size(record.size),
      check(record),
      record.kind == .put ? value(record) : .none,
      expiry(record),
      record.batchContinues ? .word("continues") : .none,
      keyspace(record),
      record.kind == .put || record.kind == .tombstone ? .key(record.key, keys) : .none,
    ]
  }

  static func cells(unreadable range: Range<Int>) -> [Cell] {
    var cells = [Cell](repeating: .none, count: columns.count)
    cells[0] = .number(UInt64(range.lowerBound))
    cells[2] = .word("unreadable", .bad)
    cells[3] = .size(range.count)
    cells[4] = .word("damaged", .bad)
    return cells
  }

  static func check(_ record: RecordDescription) -> Cell {
    record.damage == nil ? .word("ok", .good) : .word("damaged", .bad)
  }

  static func value(_ record: RecordDescription) -> Cell { .size(record.valueLength) }

  static func expiry(_ record: RecordDescription) -> Cell {
    if case .at(let time) = record.expiry { return .instant(time) }
    return .none
  }

  /// The default keyspace needs no name.
  private static func keyspace(_ record: RecordDescription) -> Cell {
    guard record.keyspaceID != 0 else { return .none }
    return record.keyspace.map { .text($0) } ?? .word("number \(record.keyspaceID)")
  }
}

extension JSONWriter {
  mutating func fields(_ element: SegmentRecords.Element, _ segment: UInt64) {
    switch element {
    case .record(let record): fields(record)
    case .unreadable(let range):
      field("segment", segment)
      field("offset", range.lowerBound)
      field("size", range.count)
      field("kind", "unreadable")
    }
  }

  /// Those of a record. Scripts rely on the names: never rename one.
  mutating func fields(_ record: RecordDescription, standing: String? = nil) {
    if let standing { field("standing", standing) }
    field("segment", record.segment)
    field("offset", record.offset)
    field("size", record.size)
    field("sequence", record.sequence.rawValue)
    field("kind", record.kind.rawValue)
    field("keyspace", record.keyspace)
    field("keyspaceID", UInt64(record.keyspaceID))
    field("incarnation", UInt64(record.incarnation))
    field("key", bytes: record.key)
    field("valueLength", record.valueLength)
    field("storedLength", record.storedLength)
    field("compressed", record.isCompressed)
    field("expires", record.expiry)
    field("batchContinues", record.batchContinues)
    field("damage", record.damage)
  }
}
