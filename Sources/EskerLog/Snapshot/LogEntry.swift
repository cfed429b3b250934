internal import EskerFormat
internal import EskerPlatform

/// One entry of a snapshot. Its bytes are read when asked for, and stay readable as long as the entry lives.
public struct LogEntry: Sendable {
  private let segment: Segment
  private let offset: Int
  /// nil: the record's header is damaged, and nothing is known of it.
  private let header: RecordHeader?
  private let length: Int

  /// The keyspace's name; empty for the default keyspace.
  public let keyspace: String

  init(segment: Segment, offset: Int, header: RecordHeader, keyspace: String) {
    self.segment = segment
    self.offset = offset
    self.header = header
    self.keyspace = keyspace
    length = header.size
  }

  init(damagedIn segment: Segment, offset: Int, length: Int) {
    self.segment = segment
    self.offset = offset
    self.length = length
    header = nil
    keyspace = ""
  }

  /// The write that stored the value; 0 when the record's header is damaged.
  public var version: SequenceNumber { SequenceNumber(rawValue: header?.sequence ?? 0) }

  /// When the value goes; `.never` or `.at`.
  public var expiry: Expiry {
    guard let header, header.expires else { return .never }
    return .at(WallTime(millisecondsSince1970: header.expiry))
  }

  /// Bytes of the value; 0 when the record's header is damaged.
  public var valueLength: Int { Int(header?.valueLength ?? 0) }

  /// The key.
  ///
  /// - Throws: ``StoreError/damaged(_:reason:)``.
  public func key() throws(StoreError) -> [UInt8] {
    unsafe [UInt8](try intactRecord().key)
  }

  /// The value, copied.
  ///
  /// - Throws: ``StoreError/damaged(_:reason:)``.
  public func value() throws(StoreError) -> [UInt8] {
    unsafe [UInt8](try intactRecord().value)
  }

  /// Calls `body` with the key's and the value's bytes where they lie.
  ///
  /// - Throws: what `body` throws; ``StoreError/damaged(_:reason:)``.
  public func withBytes<R: ~Copyable>(_ body: (RawSpan, RawSpan) throws(StoreError) -> R) throws(StoreError) -> R {
    let record = try intactRecord()
    return try unsafe body(record.key.bytes, record.value.bytes)
  }

  private func intactRecord() throws(StoreError) -> RecordView {
    guard header != nil, let record = segment.view(at: offset, end: offset + length) else {
      throw .damaged(
        segment.location(offset),
        reason: "the header of a record is damaged; \(length) bytes cannot be read"
      )
    }
    if let damage = record.damage(salt: segment.salt, offsetUnits: UInt32(truncatingIfNeeded: offset >> 3)) {
      throw .damaged(segment.location(offset), reason: damage.reason)
    }
    return record
  }
}
