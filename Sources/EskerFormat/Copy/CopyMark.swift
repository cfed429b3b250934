/// The contents of the file `backup.unfinished`, `restore.unfinished` or `repair.unfinished`: which store is being copied
/// into the directory, and by which process.
public struct CopyMark: Hashable, Sendable {
  /// The length in bytes of the file.
  public static let length = 40

  /// The process making the copy.
  public var processID: UInt32
  /// The store identity of every file made there.
  public var storeID: StoreID

  /// Creates a mark from its parts.
  public init(processID: UInt32, storeID: StoreID) {
    self.processID = processID
    self.storeID = storeID
  }

  private static let envelope = Envelope(
    magic: Envelope.magic("ESKRCPY1"),
    length: length,
    checksumOffset: length - 4,
    featuresOffset: nil
  )

  /// The file's bytes.
  public func encoded() -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Self.length)
    bytes.store(processID, at: 12)
    bytes.store(storeID.low, at: 16)
    bytes.store(storeID.high, at: 24)
    Self.envelope.seal(&bytes)
    return bytes
  }

  /// Decodes the file's bytes.
  public init(decoding bytes: RawSpan) throws(FormatError) {
    try Self.envelope.check(bytes)
    try bytes.requireZeros(in: 32..<36)
    processID = bytes.u32(at: 12)
    storeID = StoreID(low: bytes.u64(at: 16), high: bytes.u64(at: 24))
  }
}
