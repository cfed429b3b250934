/// What a frame of an export stream is about.
///
/// In streams: never renumber.
@frozen
public enum ExportFrameKind: UInt8, Sendable, CaseIterable {
  /// A keyspace; its key is the name.
  case keyspace = 1
  /// A key and its value.
  case entry = 2
  /// The end; nothing follows.
  case end = 3
}

/// The head of a frame in an export stream. Key and value follow, and their checksum.
public struct ExportFrame: Hashable, Sendable {
  /// Bytes of a head.
  public static let length = 32
  /// Bytes of the checksum behind key and value. The end has none.
  public static let trailerLength = 4

  /// What the frame is about.
  public var kind: ExportFrameKind
  /// The keyspace's identifier within the stream; 0 is the default one.
  public var keyspace: UInt32 = 0
  /// Bytes of the key.
  public var keyLength = 0
  /// Bytes of the value.
  public var valueLength = 0
  /// When an entry expires, in milliseconds, `Int64.max` for never; how long a keyspace's entries live by default, -1 for
  /// ever.
  public var expiry: Int64 = 0
  /// An entry's sequence number; at the end, how many entries there were.
  public var number: UInt64 = 0

  /// A frame of that kind, the rest zero.
  public init(_ kind: ExportFrameKind) {
    self.kind = kind
  }

  /// The head's bytes, and its checksum, which the next frame continues: a frame that is missing, repeated or out of place
  /// is found out.
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

  /// Decodes a head and returns its checksum too.
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
    guard frame.valueLength <= RecordLayout.maximumValueLength, kind == .entry || frame.valueLength == 0,
      kind != .end || frame.keyLength == 0
    else { throw .damaged(reason: "its lengths are impossible", offset: 6) }
    return (frame, checksum)
  }
}
