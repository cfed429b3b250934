/// The random identity of a store, in each of its files.
@frozen
public struct StoreID: Hashable, Sendable {
  /// The first eight bytes, little-endian.
  public let low: UInt64
  /// The other eight.
  public let high: UInt64

  /// The identity with the given halves.
  @inlinable
  public init(low: UInt64, high: UInt64) {
    self.low = low
    self.high = high
  }

  /// The bytes in the order in which they stand on disk, in hexadecimal.
  public var digits: String {
    [low, high].map { half in
      let digits = String(half.byteSwapped, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}

/// The secret that a store's key hashes depend on.
@frozen
public struct HashSeed: Hashable, Sendable {
  /// The low half.
  public let low: UInt64
  /// The high half.
  public let high: UInt64

  /// The seed with the given halves.
  @inlinable
  public init(low: UInt64, high: UInt64) {
    self.low = low
    self.high = high
  }
}

extension KeyHash {
  /// Prepares the hash of a store's seed for a keyspace.
  public init(seed: HashSeed, keyspace: KeyspaceTag = .default) {
    self.init(seedLow: seed.low, seedHigh: seed.high, keyspace: keyspace)
  }
}
