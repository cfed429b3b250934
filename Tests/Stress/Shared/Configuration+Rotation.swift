import EskerTestSupport

extension Configuration {
  /// The configuration of a round: each number is drawn for itself, so that in time every pair of settings meets.
  init(seed: UInt64, round: Int) {
    var draw = SeededGenerator(seed: mix(seed, UInt64(round)))
    func one(of values: [Int]) -> Int { values.randomElement(using: &draw) ?? 0 }
    memory = one(of: [0, 1, 1])
    segment = one(of: [64 << 10, 64 << 10, 1 << 20, 64 << 20])
    batch = one(of: [1, 50])
    keys = one(of: [1000, 1000, 5000, 20_000])
    value = one(of: [8, 8, 100, 1000])
    threads = one(of: [1, 1, 2, 3])
    mixed = one(of: [0, 1])
    large = one(of: [0, 0, 1])
    synced = one(of: [0, 0, 1, 1, 2])
    merging = one(of: [1, 1, 1, 0])
    amplification = one(of: [11, 14])
    mergers = one(of: [0, 0, 1, 3])
    packing = one(of: [0, 0, 1])
    capacity = one(of: [0, 0, 0, 0, 1]) * max(1 << 20, min(segment * 16, 32 << 20))
    walkers = one(of: [0, 1, 2])
    getters = one(of: [0, 1, 1, 2])
    openers = one(of: [0, 1, 1, 2])
    followers = one(of: openers == 0 ? [1, 2] : [0, 1, 1])
    verifying = one(of: [0, 0, 1])
    backups = one(of: [0, 1])
    pause = one(of: [0, 0, 0, 1, 200])
    kills = one(of: [0, 0, 1, 3])
  }
}

/// A number that depends on both and looks like neither.
func mix(_ first: UInt64, _ second: UInt64) -> UInt64 {
  var generator = SeededGenerator(seed: first &* 0xD6E8_FEB8_6659_FD93 ^ second)
  _ = generator.next()
  return generator.next()
}
