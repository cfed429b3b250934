/// What a store remembers of the options it was opened with: a part of the manifest, and of published statistics.
public struct StoredSettings: Hashable, Sendable {
  /// What a write survives if its call does not say.
  ///
  /// On disk: never renumber.
  @frozen
  public enum Durability: UInt8, Sendable, CaseIterable {
    /// The end of the process.
    case buffered = 0
    /// A power failure.
    case synced = 1
    /// A power failure, some time later.
    case periodic = 2
  }

  /// How merges compress values.
  ///
  /// On disk: never renumber.
  @frozen
  public enum Compression: UInt8, Sendable, CaseIterable {
    /// Not at all.
    case none = 0
    /// As LZ4 blocks.
    case lz4 = 1
  }

  /// When values expire if neither the call nor the keyspace says.
  ///
  /// On disk: never renumber.
  @frozen
  public enum Expiry: UInt8, Sendable, CaseIterable {
    /// Never.
    case never = 0
    /// Some time after they were written.
    case after = 1
    /// At one instant.
    case at = 2
  }

  /// The length in bytes.
  static let length = 40

  /// The sizes that segments may be limited to, in bytes.
  public static let segmentSizes: ClosedRange<UInt64> = 64 << 10...1 << 30
  /// The minimum capacity in bytes: a few small segments, and the files that every store has.
  public static let leastCapacity: UInt64 = 256 << 10
  /// The highest level of LZ4.
  public static let highestLevel: UInt8 = 12

  /// What a write survives if its call does not say.
  public var durability = Durability.buffered
  /// How merges compress values.
  public var compression = Compression.none
  /// The level of LZ4; else 0.
  public var level: UInt8 = 0
  /// When values expire if neither the call nor the keyspace says.
  public var expiry = Expiry.never
  /// How soon a write of durability `periodic` is durable, in nanoseconds; else 0.
  public var period: UInt64 = 0
  /// The time after which, or the instant at which, values expire, in milliseconds; 0 if they never do.
  public var expiryMilliseconds: Int64 = 0
  /// The bytes up to which a segment grows.
  public var segmentSize: UInt64 = 64 << 20
  /// The most bytes that the files may take, 0 for no limit.
  public var capacity: UInt64 = 0

  /// The settings of a store for which nothing was chosen.
  public init() {}

  func append(to bytes: inout [UInt8]) {
    bytes.append(durability.rawValue)
    bytes.append(compression.rawValue)
    bytes.append(level)
    bytes.append(expiry.rawValue)
    bytes.append(0 as UInt32)
    bytes.append(period)
    bytes.append(expiryMilliseconds)
    bytes.append(segmentSize)
    bytes.append(capacity)
  }

  /// Decodes the settings at `offset`; the caller has checked that they are within the bytes.
  init(decoding bytes: RawSpan, at offset: Int) throws(FormatError) {
    func require(_ isPossible: Bool, _ field: StaticString, _ value: UInt64, at place: Int) throws(FormatError) {
      if !isPossible { throw .damaged(reason: "\(field) is impossible: \(value)", offset: offset + place) }
    }
    func known<Choice>(_ choice: Choice?, _ field: StaticString, at place: Int) throws(FormatError) -> Choice {
      if let choice { return choice }
      throw .damaged(reason: "\(field) is unknown: \(bytes.u8(at: offset + place))", offset: offset + place)
    }
    durability = try known(Durability(rawValue: bytes.u8(at: offset)), "the store's durability", at: 0)
    compression = try known(Compression(rawValue: bytes.u8(at: offset + 1)), "the store's compression", at: 1)
    expiry = try known(Expiry(rawValue: bytes.u8(at: offset + 3)), "the kind of the store's default expiry", at: 3)
    level = bytes.u8(at: offset + 2)
    try bytes.requireZeros(in: offset + 4..<offset + 8)
    period = bytes.u64(at: offset + 8)
    expiryMilliseconds = bytes.i64(at: offset + 16)
    segmentSize = bytes.u64(at: offset + 24)
    capacity = bytes.u64(at: offset + 32)
    let isLevel = level <= (compression == .lz4 ? Self.highestLevel : 0)
    try require(isLevel, "the level of the store's compression", UInt64(level), at: 2)
    let isPeriod = period <= (durability == .periodic ? UInt64(Int64.max) : 0)
    try require(isPeriod, "the store's sync period", period, at: 8)
    let isExpiry = expiry != .never || expiryMilliseconds == 0
    try require(isExpiry, "the store's default expiry", UInt64(bitPattern: expiryMilliseconds), at: 16)
    try require(Self.segmentSizes.contains(segmentSize), "the store's segment size", segmentSize, at: 24)
    let isCapacity = capacity == 0 || (Self.leastCapacity...UInt64(Int64.max)).contains(capacity)
    try require(isCapacity, "the store's capacity", capacity, at: 32)
  }
}
