/// The first 64 bytes of an export stream.
public struct ExportHeader: Hashable, Sendable {
  /// The length in bytes of a header; the first frame follows.
  public static let length = 64

  /// The store that was exported.
  public var storeID: StoreID
  /// The sequence number of the last write in the stream.
  public var sequence: UInt64
  /// Store time of the export, in milliseconds.
  public var storeTime: Int64

  /// A header with the given fields.
  public init(storeID: StoreID, sequence: UInt64, storeTime: Int64) {
    self.storeID = storeID
    self.sequence = sequence
    self.storeTime = storeTime
  }

  static let envelope = Envelope(
    magic: Envelope.magic("ESKREXP1"),
    length: length,
    checksumOffset: 60,
    featuresOffset: 12
  )

  /// The encoded header, and its checksum, which the first frame continues.
  public func encoded() -> (bytes: [UInt8], checksum: UInt32) {
    var bytes = [UInt8](repeating: 0, count: Self.length)
    bytes.store(storeID.low, at: 16)
    bytes.store(storeID.high, at: 24)
    bytes.store(sequence, at: 32)
    bytes.store(storeTime, at: 40)
    Self.envelope.seal(&bytes)
    return (bytes, bytes.u32(at: 60))
  }

  /// Decodes the header at the start of a stream; also returns its checksum.
  public static func decode(_ bytes: RawSpan) throws(FormatError) -> (header: ExportHeader, checksum: UInt32) {
    try envelope.check(bytes)
    try bytes.requireZeros(in: 48..<60)
    let header = ExportHeader(
      storeID: StoreID(low: bytes.u64(at: 16), high: bytes.u64(at: 24)),
      sequence: bytes.u64(at: 32),
      storeTime: bytes.i64(at: 40)
    )
    return (header, bytes.u32(at: 60))
  }
}
