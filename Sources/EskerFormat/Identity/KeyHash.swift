/// The keyed 64-bit hash of keys: one 64-by-64-bit multiplication per 16 bytes, as in wyhash and its relatives.
///
/// A value is prepared once for a store's seed and a keyspace, and hashes any number of keys. Hashes are stored on disk, so
/// they are the same on every platform: words are little-endian and additions wrap.
///
/// Every word of the key is masked with a secret derived from the seed before it is multiplied, so without the seed an
/// attacker can neither steer keys into one bucket nor find the word that makes a product zero.
@frozen
public struct KeyHash: Sendable, Equatable {
  @usableFromInline let first: UInt64
  @usableFromInline let second: UInt64
  @usableFromInline let third: UInt64
  @usableFromInline let fourth: UInt64

  /// Prepares the hash for a keyspace of the store with this seed.
  public init(seedLow: UInt64, seedHigh: UInt64, keyspace: KeyspaceTag = .default) {
    // On disk: never change these numbers (the fraction of pi) or how they are used.
    let keyed = Self.mix(seedLow ^ 0x243f_6a88_85a3_08d3, seedHigh ^ 0x1319_8a2e_0370_7344)
    let placed = Self.mix(keyspace.rawValue ^ seedHigh ^ 0xa409_3822_299f_31d0, seedLow ^ 0x082e_fa98_ec4e_6c89)
    let state = keyed ^ placed
    first = Self.scramble(state, 1)
    second = Self.scramble(state, 2)
    third = Self.scramble(state, 3)
    fourth = Self.scramble(state, 4)
  }

  /// The hash of a key of `count` bytes.
  ///
  /// Safety: the caller keeps `count` bytes during the call. Each branch reads within what its condition guarantees, such
  /// as words at 0 and `count - 8` where there are eight bytes or more, and the loops stop while enough bytes are left.
  /// There is no second check, because every get comes through here.
  ///
  /// - Complexity: O(`count`); about 2 ns for 16 bytes, or 6 ns when the next step depends on the result.
  @inlinable
  public func hash(_ key: UnsafeRawPointer, count: Int) -> UInt64 {
    var state = first
    let a: UInt64
    let b: UInt64
    if count <= 16 {
      if count >= 8 {
        a = unsafe key.littleEndian(at: 0)
        b = unsafe key.littleEndian(at: count - 8)
      } else if count >= 4 {
        a = unsafe UInt64(key.littleEndian(UInt32.self, at: 0))
        b = unsafe UInt64(key.littleEndian(UInt32.self, at: count - 4))
      } else if count > 0 {
        // First, middle and last byte: together all of a key of one to three bytes.
        a =
          unsafe UInt64(key.load(as: UInt8.self)) << 16
          | UInt64(key.load(fromByteOffset: count >> 1, as: UInt8.self)) << 8
          | UInt64(key.load(fromByteOffset: count - 1, as: UInt8.self))
        b = 0
      } else {
        a = 0
        b = 0
      }
    } else {
      var offset = 0
      if count > 48 {
        // Three lanes, so that no multiplication waits for the one before it.
        var lane1 = state
        var lane2 = state
        while count &- offset > 48 {
          state = unsafe Self.mix(
            key.littleEndian(at: offset) ^ second,
            key.littleEndian(at: offset &+ 8) ^ state
          )
          lane1 = unsafe Self.mix(
            key.littleEndian(at: offset &+ 16) ^ third,
            key.littleEndian(at: offset &+ 24) ^ lane1
          )
          lane2 = unsafe Self.mix(
            key.littleEndian(at: offset &+ 32) ^ fourth,
            key.littleEndian(at: offset &+ 40) ^ lane2
          )
          offset &+= 48
        }
        state ^= lane1 ^ lane2
      }
      while count &- offset > 16 {
        state = unsafe Self.mix(key.littleEndian(at: offset) ^ second, key.littleEndian(at: offset &+ 8) ^ state)
        offset &+= 16
      }
      // The last 16 bytes, some of them possibly for the second time.
      a = unsafe key.littleEndian(at: count &- 16)
      b = unsafe key.littleEndian(at: count &- 8)
    }
    let product = (a ^ second).multipliedFullWidth(by: b ^ state)
    return Self.mix(product.low ^ third, product.high ^ fourth ^ UInt64(truncatingIfNeeded: count))
  }

  /// The hash of a key.
  ///
  /// Safety: the caller keeps the bytes during the call.
  ///
  /// - Complexity: O(n).
  @inlinable
  public func hash(_ key: UnsafeRawBufferPointer) -> UInt64 {
    guard let base = key.baseAddress else { return emptyHash }
    return unsafe hash(base, count: key.count)
  }

  // Safety: the caller uses the run, so its bytes are there during the call. Inlined explicitly: otherwise the compiler merges
  // it with the function it calls, which slows gets.
  @inline(__always)
  func hash(_ key: ByteRun) -> UInt64 { unsafe hash(key.pointer) }

  /// The hash of the empty key, for which there may be no pointer.
  @inlinable
  public var emptyHash: UInt64 {
    let product = second.multipliedFullWidth(by: first)
    return Self.mix(product.low ^ third, product.high ^ fourth)
  }

  /// The high and low halves of the product, XORed.
  @inlinable
  @inline(__always)
  static func mix(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let product = a.multipliedFullWidth(by: b)
    return product.high ^ product.low
  }

  /// Number `index` of the splitmix64 sequence that starts at `state`: distinct for distinct indices.
  static func scramble(_ state: UInt64, _ index: UInt64) -> UInt64 {
    var z = state &+ index &* 0x9e37_79b9_7f4a_7c15
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}
