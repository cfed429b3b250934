internal import EskerFormat
public import EskerLog

/// A record as it stands in a segment.
public struct RecordDescription: Sendable, Hashable {
  /// What a record says.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// A key has a value.
    case put
    /// A key has none.
    case tombstone
    /// A keyspace was emptied.
    case reset
    /// The log goes on in the next segment.
    case seal
  }

  /// The id of the segment it stands in.
  public var segment: UInt64
  /// Where in the file: what an index leads to. A packed record in a cell has a place of its own in it.
  public var offset: Int
  /// Bytes that the record takes; in a cell, its share.
  public var size: Int
  /// The record's place in the store's history.
  public var sequence: SequenceNumber
  /// What it says.
  public var kind: Kind
  /// The keyspace's number.
  public var keyspaceID: UInt32
  /// How often the keyspace had been emptied.
  public var incarnation: UInt32
  /// The keyspace's name, empty for the default one; nil when no manifest tells it.
  public var keyspace: String?
  /// The key; what stands in its place if the record is damaged.
  public var key: [UInt8]
  /// Bytes of the value as it was put.
  public var valueLength: Int
  /// Bytes of the value in the file; nil in a cell, where values are compressed together.
  public var storedLength: Int?
  /// Whether the value is compressed.
  public var isCompressed: Bool
  /// `.never`, or `.at` an instant.
  public var expiry: Expiry
  /// Another record of the same batch follows.
  public var batchContinues: Bool
  /// What is wrong with it; nil when its checksums are right.
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
    case .seal: self = .seal
    }
  }
}
