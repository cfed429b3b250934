/// What a footer says of one record.
@frozen
public struct FooterEntry: Hashable, Sendable {
  /// The record's offset in the file.
  public var offset: UInt64
  /// Bytes of the record.
  public var size: UInt64
  /// The hash of its key.
  public var keyHash: UInt64
  /// Its place in history.
  public var sequence: UInt64
  /// The keyspace of its key.
  public var keyspace: KeyspaceTag
  /// A put or a tombstone.
  public var kind: RecordKind
  /// Whether it expires; the record itself says when.
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
  /// Where the record ends. A place in a cell lies eight bytes behind the start of its share.
  func end(isPacked: Bool) -> UInt64 { (isPacked ? offset & ~8 : offset) &+ size }

  /// The two bits that stand for the kind. On disk: never renumber.
  var kindCode: UInt8 {
    switch kind {
    case .put: 1
    case .tombstone: 2
    case .reset: 3
    case .seal: 0
    }
  }

  /// The kind that two bits stand for; nil for those that mean nothing.
  static func kind(code: UInt8) -> RecordKind? {
    switch code {
    case 1: .put
    case 2: .tombstone
    case 3: .reset
    default: nil
    }
  }
}
