/// The kind of a frame in an export stream.
///
/// In streams: never renumber.
@frozen
public enum ExportFrameKind: UInt8, Sendable, CaseIterable {
  /// A keyspace; its key is the name, and its value the forms of keys and values, if they are known.
  case keyspace = 1
  /// A key and its value.
  case entry = 2
  /// The end; nothing follows.
  case end = 3
}

extension ExportFrameKind {
  /// The most bytes that the value of such a frame has.
  fileprivate var longestValue: Int {
    switch self {
    case .keyspace: 2 + 2 * KeyspaceForms.longestName
    case .entry: RecordLayout.maximumValueLength
    case .end: 0
    }
  }
}

/// The head of a frame in an export stream. Key and value follow, then their checksum.
public struct ExportFrame: Hashable, Sendable {
  /// The length in bytes of a head.
  public static let length = 32
  /// The length in bytes of the checksum after key and value. The end frame has none.
  public static let trailerLength = 4

  /// The kind of frame.
  public var kind: ExportFrameKind
  /// The keyspace's identifier within the stream; 0 is the default keyspace.
  public var keyspace: UInt32 = 0
  /// The length in bytes of the key.
  public var keyLength = 0
  /// The length in bytes of the value.
  public var valueLength = 0
  /// For an entry, its expiry in milliseconds of store time, `Int64.max` for never; for a keyspace, its default lifetime in
  /// milliseconds, -1 for no expiry.
  public var expiry: Int64 = 0
  /// For an entry, its sequence number; for the end frame, the number of entries.
  public var number: UInt64 = 0

  /// Creates a frame of this kind, with all other fields zero.
  public init(_ kind: ExportFrameKind) {
    self.kind = kind
  }

  /// The encoded head, and its checksum, which the next frame continues: this detects frames that are missing, repeated or
  /// out of order.
  public func encoded(continuing previous: UInt32) -> (bytes: [UInt8], checksum: UInt32) {
    precondition(keyLength <= RecordLayout.maximumKeyLength && valueLength <= RecordLayout.maximumValueLength)
    var bytes = [UInt8](repeating: 0, count: Self.length)
    bytes.store(kind.rawValue, at: 4)
    bytes.store(UInt16(keyLength), at: 6)
    bytes.store(UInt32(valueLength), at: 8)
    bytes.store(keyspace, at: 12)
    bytes.store(expiry, at: 16)
    bytes.store(number, at: 24)
    let checksum = bytes.checksum(of: 4..<Self.length, continuing: previous)
    bytes.store(checksum, at: 0)
    return (bytes, checksum)
  }

  /// Decodes a head; also returns its checksum.
  public static func decode(
    _ bytes: RawSpan,
    continuing previous: UInt32
  ) throws(FormatError) -> (frame: ExportFrame, checksum: UInt32) {
    guard bytes.byteCount >= length else { throw .damaged(reason: "it is truncated", offset: bytes.byteCount) }
    let checksum = CRC32C.checksum(of: bytes.extracting(4..<length), continuing: previous)
    guard checksum == bytes.u32(at: 0) else { throw .damaged(reason: "its checksum does not match", offset: 0) }
    guard let kind = ExportFrameKind(rawValue: bytes.u8(at: 4)), bytes.u8(at: 5) == 0 else {
      throw .damaged(reason: "its kind is unknown", offset: 4)
    }
    var frame = ExportFrame(kind)
    frame.keyLength = Int(bytes.u16(at: 6))
    frame.valueLength = Int(bytes.u32(at: 8))
    frame.keyspace = bytes.u32(at: 12)
    frame.expiry = bytes.i64(at: 16)
    frame.number = bytes.u64(at: 24)
    let isPossible = frame.valueLength <= kind.longestValue && (kind != .end || frame.keyLength == 0)
    guard isPossible else { throw .damaged(reason: "its lengths are impossible", offset: 6) }
    return (frame, checksum)
  }
}
