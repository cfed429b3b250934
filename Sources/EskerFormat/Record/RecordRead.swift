/// What was found where a record may start.
@frozen
public enum RecordRead: Hashable, Sendable {
  /// A record whose header is intact and which ends within the limit. Its body has not been checked.
  case record(RecordHeader)
  /// A zero word, or too few bytes for a word: the log ends here.
  case end
  /// Something else.
  case damaged(RecordDamage)
}

/// Why bytes are not a record.
@frozen
public enum RecordDamage: UInt8, Error, Hashable, Sendable {
  /// The record extends past the available bytes.
  case truncated
  /// The header does not match its checksum for this place in this segment.
  case headerChecksum
  /// The body does not match its checksum.
  case bodyChecksum
  /// The kind is unknown in version 1.
  case unknownKind
  /// The value is compressed, which version 1 allows in packed segments only.
  case compressed
  /// The header matches its checksum but is inconsistent or exceeds a limit.
  case malformed

  /// The reason in words.
  public var reason: String {
    switch self {
    case .truncated: "the record does not end within the segment"
    case .headerChecksum: "the checksum of the record's header does not match"
    case .bodyChecksum: "the checksum of the record's key and value does not match"
    case .unknownKind: "the record's kind is unknown"
    case .compressed: "the record is compressed, which this version cannot read"
    case .malformed: "the record's header contradicts itself"
    }
  }
}
