import CLimits
import CacheTraces

/// The order in which a workload visits keys, as key numbers; always the same for the same arguments.
enum Order {
  /// Consecutive numbers starting with `first`.
  static func sequential(from first: Int = 0, count: Int) -> [UInt64] {
    (first..<first + count).map { UInt64($0) }
  }

  /// Uniformly random, with repetition.
  static func uniform(below keys: Int, count: Int, seed: UInt64) -> [UInt64] {
    var random = SplitMix(state: seed)
    return (0..<count).map { _ in random.next(below: UInt64(keys)) }
  }

  /// The first `count` of a random permutation: each number at most once.
  static func shuffled(below keys: Int, count: Int, seed: UInt64) -> [UInt64] {
    var random = SplitMix(state: seed)
    var numbers = sequential(count: keys)
    for index in 0..<min(count, keys) {
      numbers.swapAt(index, index + Int(random.next(below: UInt64(keys - index))))
    }
    return Array(numbers.prefix(count))
  }

  /// Zipfian with exponent 0.99, as in YCSB; popular numbers are spread over the key space.
  static func zipfian(below keys: Int, count: Int, seed: UInt64) -> [UInt64] {
    var random = SplitMix(state: seed)
    let ranks = ZipfianRanks(count: keys)
    return (0..<count).map { _ in bench_mix(UInt64(ranks.rank(for: random.nextUnit()))) % UInt64(keys) }
  }

  /// YCSB's workload D: new keys in order, interleaved with gets that favour the newest keys.
  static func latest(keys: Int, count: Int, seed: UInt64, readPercent: UInt32) -> [UInt64] {
    var random = SplitMix(state: seed)
    let ranks = ZipfianRanks(count: keys)
    var next = keys
    return (0..<count).map { index in
      if bench_is_get(UInt64(index), readPercent) { return UInt64(next - 1 - ranks.rank(for: random.nextUnit())) }
      next += 1
      return UInt64(next - 1)
    }
  }

  /// YCSB's workload E: new keys in order, interleaved with popular ones of those that were there.
  static func scanned(keys: Int, count: Int, seed: UInt64, readPercent: UInt32) -> [UInt64] {
    var next = UInt64(keys)
    return zipfian(below: keys, count: count, seed: seed).enumerated().map { index, number in
      if bench_is_get(UInt64(index), readPercent) { return number }
      next += 1
      return next - 1
    }
  }
}

/// A small generator whose sequence is part of the benchmark.
struct SplitMix {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 1
    return bench_mix(state &* 0xD134_2543_DE82_EF95)
  }

  mutating func next(below bound: UInt64) -> UInt64 {
    next().multipliedFullWidth(by: bound).high
  }

  /// In 0 ..< 1.
  mutating func nextUnit() -> Double {
    Double(next() >> 11) * 0x1p-53
  }
}
