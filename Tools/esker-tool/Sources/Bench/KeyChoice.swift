import Foundation

/// A fast random number generator, deterministic for a seed.
struct BenchRandom: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    return Self.mixed(state)
  }

  /// Spreads a number over all of its bits.
  static func mixed(_ number: UInt64) -> UInt64 {
    var mixed = number
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// Ranks with a Zipfian distribution of exponent 0.99, as in YCSB (Gray et al., "Quickly generating billion-record synthetic
/// databases", 1994), scattered over all keys.
struct ZipfianKeys {
  private static let exponent = 0.99

  private let count: Int
  private let zeta: Double
  private let eta: Double
  private let alpha = 1 / (1 - Self.exponent)

  init(count: Int) {
    self.count = count
    let zeta = (1...max(1, count)).reduce(0.0) { $0 + pow(Double($1), -Self.exponent) }
    let two = 1 + pow(2, -Self.exponent)
    self.zeta = zeta
    eta = (1 - pow(2 / Double(max(1, count)), 1 - Self.exponent)) / (1 - two / zeta)
  }

  func next(using random: inout BenchRandom) -> Int {
    let uniform = Double(random.next() >> 11) / Double(1 << 53)
    let scaled = uniform * zeta
    let rank: Int
    if scaled < 1 {
      rank = 0
    } else if scaled < 1 + pow(0.5, Self.exponent) {
      rank = 1
    } else {
      rank = Int(Double(count) * pow(eta * uniform - eta + 1, alpha))
    }
    return Int(BenchRandom.mixed(UInt64(clamping: rank)) % UInt64(count))
  }
}
