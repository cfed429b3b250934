internal import EskerFormat
public import EskerLog

/// The bytes of a record, divided into named fields.
public struct RecordAnatomy: Sendable, Hashable {
  /// The value of a field.
  public enum Value: Sendable, Hashable {
    /// A number.
    case number(UInt64)
    /// A checksum or a hash.
    case hash(UInt64)
    /// The name of an encoded value.
    case word(String)
    /// An instant.
    case instant(WallTime)
    /// The bytes of a key, a value or a compressed block.
    case bytes
    /// Zeros up to a boundary.
    case padding
  }

  /// A field, named as in the description of the format.
  public struct Field: Sendable, Hashable {
    /// The field's name.
    public var name: String
    /// The field's range in the file.
    public var range: Range<Int>
    /// The field's value.
    public var value: Value
  }

  /// The record's range in its file; for a packed record in a cell, the range of the cell.
  public var range: Range<Int>
  /// The fields, in order.
  public var fields: [Field]
  /// The decoded record; nil if its header is damaged.
  public var record: RecordDescription?
  /// What is wrong with the record; nil if its checksums match.
  public var damage: String?

  private let file: SegmentFile

  /// The bytes of a range of the file, as far as the file extends.
  public func bytes(in range: Range<Int>) -> [UInt8] { file.bytes(in: range) }

  init(_ file: SegmentFile, _ range: Range<Int>, _ fields: [NamedField]) {
    self.file = file
    self.range = range
    self.fields = fields.map { field in
      Field(
        name: field.name,
        range: range.lowerBound + field.range.lowerBound..<range.lowerBound + field.range.upperBound,
        value: Value(field.value)
      )
    }
  }

  /// Whether both describe the same bytes in the same way.
  public static func == (left: RecordAnatomy, right: RecordAnatomy) -> Bool {
    left.file.path == right.file.path && left.range == right.range && left.fields == right.fields
      && left.record == right.record && left.damage == right.damage
  }

  /// Hashes the file's path and the range.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(file.path)
    hasher.combine(range)
  }
}

extension RecordAnatomy.Value {
  init(_ value: NamedField.Value) {
    switch value {
    case .number(let number): self = .number(number)
    case .hash(let hash): self = .hash(hash)
    case .word(let word): self = .word(word)
    case .instant(let time): self = .instant(WallTime(millisecondsSince1970: time))
    case .bytes: self = .bytes
    case .padding: self = .padding
    }
  }
}

extension StoreInspection {
  /// Describes a record field by field.
  ///
  /// - Parameters:
  ///   - offset: Where the record begins in the segment's file; see ``RecordDescription/offset``.
  ///   - segment: The segment's id.
  /// - Throws: `StoreError.damaged(_:reason:)` if there is no such segment, no record can begin there, or its lengths
  ///   exceed the file; `StoreError.failed(operation:path:errno:)`. A record with a wrong checksum is returned, not
  ///   thrown.
  /// - Complexity: O(bytes of the record).
  public func record(at offset: Int, of segment: UInt64) throws(StoreError) -> RecordAnatomy {
    let file = try open(segment)
    guard offset >= file.layout.recordsStart, offset < file.end, offset % 8 == 0 else {
      throw .damaged(
        file.location(offset),
        reason:
          "no record begins at this offset: records begin at multiples of 8 from \(file.layout.recordsStart) to \(file.end)"
      )
    }
    let anatomy: RecordAnatomy?
    if let view = file.packedView {
      anatomy = view.fields(at: offset).map { range, fields in
        var anatomy = RecordAnatomy(file, range, fields)
        anatomy.record = view.entry(at: offset).map {
          RecordDescription($0, in: file, view, keyspaceName($0.keyspace.id))
        }
        anatomy.damage = anatomy.record?.damage
        return anatomy
      }
    } else {
      anatomy = plainRecord(at: offset, file)
    }
    guard let anatomy else {
      throw .damaged(file.location(offset), reason: "no recognisable record at this offset")
    }
    return anatomy
  }

  private func plainRecord(at offset: Int, _ file: SegmentFile) -> RecordAnatomy? {
    let read = file.readRecord(at: offset)
    if case .end = read { return nil }
    if case .record(let header) = read, header.kind == .filler { return nil }
    guard case .plain(let view, _, _) = file.record(at: offset) else { return nil }
    var anatomy = RecordAnatomy(file, offset..<offset + view.size, view.fields)
    switch read {
    case .record(let header):
      anatomy.record = RecordDescription(header, at: offset, in: file, keyspaceName(header.keyspace.id))
      anatomy.damage = anatomy.record?.damage
    case .damaged(let damage): anatomy.damage = damage.reason
    case .end: return nil
    }
    return anatomy
  }
}
