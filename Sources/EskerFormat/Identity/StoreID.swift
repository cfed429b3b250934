/// The random identity of a store, recorded in each of its files.
@frozen
public struct StoreID: Hashable, Sendable {
  /// The first eight bytes, little-endian.
  public let low: UInt64
  /// The last eight bytes, little-endian.
  public let high: UInt64

  /// The identity with the given halves.
  @inlinable
  public init(low: UInt64, high: UInt64) {
    self.low = low
    self.high = high
  }

  /// The bytes in on-disk order, in hexadecimal.
  public var digits: String {
    [low, high].map { half in
      let digits = String(half.byteSwapped, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}

/// The secret behind a store's key hashes.
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
  /// Prepares the hash for a keyspace of the store with this seed.
  public init(seed: HashSeed, keyspace: KeyspaceTag = .default) {
    self.init(seedLow: seed.low, seedHigh: seed.high, keyspace: keyspace)
  }
}
