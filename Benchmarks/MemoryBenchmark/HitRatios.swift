import EskerMemory

/// The cache itself as a policy on numbered keys.
struct CacheSimulator: Simulator {
  static let name = "Esker"
  private let cache: MemoryCache<Int, Int>

  init(capacity: Int, keyCount: Int) {
    cache = MemoryCache(limits: MemoryLimits(count: capacity))
  }

  mutating func request(_ key: Int) -> Bool {
    if let value = cache.get(key, now: 0) {
      precondition(value == key, "the cache returned another key's value")
      return true
    }
    cache.put(key, forKey: key, now: 0)
    return false
  }
}

/// Two caches that share their limits, each for a half of the keys.
final class SharingSimulator: Simulator {
  static let name = "Esker in two"
  private let caches: [MemoryCache<Int, Int>]

  init(capacity: Int, keyCount: Int) {
    let pool = MemoryPool(limits: MemoryLimits(count: capacity))
    caches = [MemoryCache(sharing: pool), MemoryCache(sharing: pool)]
  }

  func request(_ key: Int) -> Bool {
    let cache = caches[(key &* 0x9E37_79B9) >> 16 & 1]
    if cache.get(key, now: 0) != nil { return true }
    cache.put(key, forKey: key, now: 0)
    return false
  }

  deinit {
    for cache in caches { cache.leave() }
  }
}

/// Prints the hit ratio of each policy on each trace at 1, 5 and 20 % of its unique keys.
func printHitRatios(directory: String) throws {
  let simulators: [any Simulator.Type] = [LRU.self, SIEVE.self, S3FIFO.self, WTinyLFU.self, CacheSimulator.self]
  let names = simulators.map { $0.name }.joined(separator: " | ")
  print("| trace | size | \(names) | Esker - best | \(SharingSimulator.name) |")
  print("|---|---|" + String(repeating: "---|", count: simulators.count + 2))
  var shared = 0.0
  var sums = Array(repeating: 0.0, count: simulators.count)
  var cells = 0
  for trace in try readTraces(directory) {
    for percent in [1, 5, 20] {
      let capacity = trace.uniqueCount * percent / 100
      let ratios = simulators.map { hitRatio($0, trace, capacity: capacity) }
      for (index, ratio) in ratios.enumerated() { sums[index] += ratio }
      cells += 1
      let best = ratios.dropLast().max() ?? 0
      let sharing = hitRatio(SharingSimulator.self, trace, capacity: capacity)
      shared += sharing
      let lead = ((ratios.last ?? 0) - best) * 100
      let columns = ratios.map { text($0, 4) }.joined(separator: " | ")
      print(
        "| \(trace.name) | \(capacity) | \(columns) | \(lead < 0 ? "" : "+")\(text(lead, 2)) | \(text(sharing, 4)) |"
      )
    }
  }
  print(
    "| mean | |",
    sums.map { text($0 / Double(cells), 4) }.joined(separator: " | "),
    "| | \(text(shared / Double(cells), 4)) |"
  )
}
