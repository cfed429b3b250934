internal import EskerFormat
public import EskerLog

/// A record as stored in a segment.
public struct RecordDescription: Sendable, Hashable {
  /// The kind of a record.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// Stores a value for a key.
    case put
    /// Removes a key.
    case tombstone
    /// Empties a keyspace.
    case reset
    /// Ends a segment: the log continues in the next one.
    case seal
  }

  /// The id of the segment that contains the record.
  public var segment: UInt64
  /// The offset in the file, as stored in an index. Each record in a cell has its own.
  public var offset: Int
  /// Bytes that the record takes; in a cell, its share.
  public var size: Int
  /// The record's sequence number.
  public var sequence: SequenceNumber
  /// The record's kind.
  public var kind: Kind
  /// The keyspace's number.
  public var keyspaceID: UInt32
  /// How often the keyspace had been emptied.
  public var incarnation: UInt32
  /// The keyspace's name, empty for the default one; nil if no manifest contains it.
  public var keyspace: String?
  /// The key; if the record is damaged, the bytes in its place.
  public var key: [UInt8]
  /// The length in bytes of the value as it was put.
  public var valueLength: Int
  /// The length in bytes of the value in the file; nil in a cell, where values are compressed together.
  public var storedLength: Int?
  /// Whether the value is compressed.
  public var isCompressed: Bool
  /// When the value expires; `.never` or `.at`.
  public var expiry: Expiry
  /// Whether another record of the same batch follows.
  public var batchContinues: Bool
  /// What is wrong with the record; nil if its checksums match.
  public var damage: String?
}

extension RecordDescription {
  init(_ header: RecordHeader, at offset: Int, in file: SegmentFile, _ keyspace: String?) {
    let record = file.record(at: offset)
    segment = file.id
    self.offset = offset
    size = header.size
    sequence = SequenceNumber(rawValue: header.sequence)
    kind = Kind(header.kind)
    keyspaceID = header.keyspace.id
    incarnation = header.keyspace.incarnation
    self.keyspace = keyspace
    key = record?.key ?? []
    valueLength = Int(header.valueLength)
    storedLength = valueLength
    isCompressed = false
    expiry = Expiry(stored: header.expiry)
    batchContinues = header.batchContinues
    damage = (record.map { $0.damage } ?? .truncated)?.reason
  }

  init(_ entry: PackedEntry, in file: SegmentFile, _ view: PackedSegmentView, _ keyspace: String?) {
    segment = file.id
    offset = entry.offset
    size = entry.size
    sequence = SequenceNumber(rawValue: entry.sequence)
    kind = Kind(entry.kind)
    keyspaceID = entry.keyspace.id
    incarnation = entry.keyspace.incarnation
    self.keyspace = keyspace
    key = entry.key
    valueLength = entry.valueLength
    storedLength = entry.isInCell ? nil : entry.storedLength
    isCompressed = entry.isCompressed
    expiry = Expiry(stored: entry.expiry)
    batchContinues = false
    damage = view.damage(of: entry)?.reason
  }
}

extension RecordDescription.Kind {
  init(_ kind: RecordKind) {
    switch kind {
    case .put: self = .put
    case .tombstone: self = .tombstone
    case .reset: self = .reset
    // Fillers are not shown.
    case .seal, .filler: self = .seal
    }
  }
}
