/// A record's entry in a footer.
@frozen
public struct FooterEntry: Hashable, Sendable {
  /// The record's offset in the file.
  public var offset: UInt64
  /// The length in bytes of the record.
  public var size: UInt64
  /// The hash of its key.
  public var keyHash: UInt64
  /// Its sequence number.
  public var sequence: UInt64
  /// The keyspace of its key.
  public var keyspace: KeyspaceTag
  /// A put, a tombstone, a reset, or a filler, which is no record and only keeps the offsets right.
  public var kind: RecordKind
  /// Whether it expires; the time is in the record itself.
  public var expires: Bool

  /// An entry with the given fields.
  @inlinable
  public init(
    offset: UInt64,
    size: UInt64,
    keyHash: UInt64,
    sequence: UInt64,
    keyspace: KeyspaceTag,
    kind: RecordKind,
    expires: Bool
  ) {
    self.offset = offset
    self.size = size
    self.keyHash = keyHash
    self.sequence = sequence
    self.keyspace = keyspace
    self.kind = kind
    self.expires = expires
  }
}

extension FooterEntry {
  /// Where the record ends. An address in a cell is eight bytes past the start of its share.
  func end(isPacked: Bool) -> UInt64 { (isPacked ? offset & ~8 : offset) &+ size }

  /// The two bits for the kind. On disk: never renumber.
  var kindCode: UInt8 {
    switch kind {
    case .put: 1
    case .tombstone: 2
    case .reset: 3
    case .seal, .filler: 0
    }
  }

  /// The kind for two bits; nil if they stand for none.
  static func kind(code: UInt8) -> RecordKind? {
    switch code {
    case 0: .filler
    case 1: .put
    case 2: .tombstone
    case 3: .reset
    default: nil
    }
  }
}
