import EskerTestSupport

extension Configuration {
  /// The configuration of a round of power cuts.
  init(ofCuts seed: UInt64, round: Int) {
    var draw = SeededGenerator(seed: mix(seed ^ 0xC075, UInt64(round)))
    func one(of values: [Int]) -> Int { values.randomElement(using: &draw) ?? 0 }
    cuts = 1
    segment = one(of: [64 << 10, 64 << 10, 256 << 10, 1 << 20])
    batch = one(of: [1, 1, 10, 50])
    keys = one(of: [200, 500, 1000, 2000])
    value = one(of: [8, 100, 100, 1000])
    threads = one(of: [1, 2, 3])
    mixed = one(of: [0, 1, 1])
    large = one(of: [0, 0, 0, 1])
    synced = one(of: [1, 1, 2])
    syncers = one(of: [0, 0, 1])
    merging = one(of: [1, 1, 1, 0])
    amplification = one(of: [11, 14])
    mergers = one(of: [0, 0, 1])
    packing = one(of: [0, 0, 1])
    capacity = one(of: [0, 0, 0, 1]) * max(1 << 20, segment * 16)
    pause = one(of: [200, 1000, 5000])
    (getters, openers, followers) = (0, 0, 0)
  }
}
