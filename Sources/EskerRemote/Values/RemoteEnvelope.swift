/// The 24 bytes ahead of every value that Esker writes to a remote store, and ahead of its copies in a log.
///
/// ```
/// offset  bytes
///      0      3  magic: EE 4B 01
///      3      1  flags: 1 tags; with any other the value is foreign
///      4      6  expiry: milliseconds since 1970 by the server's clock, 0 for never
///     10     14  version: time 6, count 2, writer 6
/// ```
/// Numbers are big-endian, so that a version can be compared as bytes. On disk: never renumber.
public struct RemoteEnvelope: Hashable, Sendable {
  /// What is known of the bytes behind the envelope.
  public struct Flags: OptionSet, Hashable, Sendable {
    /// The bits as stored.
    public let rawValue: UInt8

    /// Flags from their bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A list of tags is ahead of the value; see ``RemoteTag``.
    public static let tagged = Flags(rawValue: 1)

    static let known: Flags = [.tagged]
  }

  /// How many bytes the envelope takes.
  public static let length = 24
  /// Where the version is in them; a script on the server compares these bytes.
  public static let versionRange = 10..<24
  /// What the envelope begins with.
  public static let magic: [UInt8] = [0xEE, 0x4B, 0x01]
  /// The latest expiry that can be stored.
  public static let latestExpiry: UInt64 = 0xFFFF_FFFF_FFFF

  /// What is known of the bytes behind the envelope.
  public var flags: Flags
  /// Milliseconds since 1970 by the server's clock, at most ``latestExpiry``; 0 for never.
  public var expiry: UInt64
  /// The version of the write.
  public var version: RemoteVersion

  /// An envelope from its parts.
  public init(version: RemoteVersion, expiry: UInt64 = 0, flags: Flags = []) {
    self.flags = flags
    self.expiry = min(expiry, Self.latestExpiry)
    self.version = version
  }

  /// The envelope at the head of `bytes`; nil if there is none that this version of Esker knows: the value is foreign.
  public init?(_ bytes: RawSpan) {
    guard bytes.byteCount >= Self.length, bytes.bigEndian(at: 0, count: 3) == 0xEE4B01 else { return nil }
    flags = Flags(rawValue: UInt8(truncatingIfNeeded: bytes.bigEndian(at: 3, count: 1)))
    guard flags.isSubset(of: .known) else { return nil }
    expiry = bytes.bigEndian(at: 4, count: 6)
    version = RemoteVersion(bytes, at: Self.versionRange.lowerBound)
  }

  /// Appends the envelope's bytes.
  public func append(to bytes: inout [UInt8]) {
    bytes.append(contentsOf: Self.magic)
    bytes.append(flags.rawValue)
    bytes.appendBigEndian(expiry, count: 6)
    version.append(to: &bytes)
  }
}
