/// What a file `backup.unfinished`, `restore.unfinished` or `repair.unfinished` says: of which store the copy is that is being
/// made in its directory, and by whom.
public struct CopyMark: Hashable, Sendable {
  /// Bytes of the file.
  public static let length = 40

  /// The process that makes the copy.
  public var processID: UInt32
  /// The identity of every file that is made there.
  public var storeID: StoreID

  /// A mark from its parts.
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
