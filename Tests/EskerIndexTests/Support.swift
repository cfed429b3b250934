import EskerIndex
import EskerPlatform

/// A small generator with a printable seed.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    return SplitMix.mix(state)
  }

  /// A bijection, so that different numbers are different hashes.
  static func mix(_ value: UInt64) -> UInt64 {
    var z = value
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

/// What a test cannot go on without.
struct NoMemory: Error {}

func makeIndex(_ epochs: EpochDomain = EpochDomain()) throws -> HashIndex {
  guard let index = HashIndex(epochs: epochs) else { throw NoMemory() }
  return index
}

extension HashIndex {
  /// All addresses a probe returns, in the writer's thread.
  func candidates(_ hash: UInt64) -> [UInt64] {
    var probe = probe(hash)
    var found: [UInt64] = []
    while let address = probe.next() { found.append(address) }
    return found
  }
}
