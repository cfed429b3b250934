/// What stands where a record may start.
@frozen
public enum RecordRead: Hashable, Sendable {
  /// A record whose header is intact and which ends within the limit. Its body has not been checked.
  case record(RecordHeader)
  /// A zero word, or no room for a word: the log ends here.
  case end
  /// Something else.
  case damaged(RecordDamage)
}

/// Why bytes are not a record.
@frozen
public enum RecordDamage: UInt8, Error, Hashable, Sendable {
  /// The record does not end within the bytes that there are.
  case truncated
  /// The header does not have its checksum at this place of this segment.
  case headerChecksum
  /// The body does not have its checksum.
  case bodyChecksum
  /// The kind is none that version 1 knows.
  case unknownKind
  /// The value is compressed, which version 1 does not know.
  case compressed
  /// The header has its checksum but contradicts itself or exceeds a limit.
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
