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

/// Prints the hit ratio of each policy on each trace at 1, 5 and 20 % of its unique keys.
func printHitRatios(directory: String) throws {
  let simulators: [any Simulator.Type] = [LRU.self, SIEVE.self, S3FIFO.self, WTinyLFU.self, CacheSimulator.self]
  print("| trace | size |", simulators.map { $0.name }.joined(separator: " | "), "| Esker - best |")
  print("|---|---|" + String(repeating: "---|", count: simulators.count + 1))
  var sums = Array(repeating: 0.0, count: simulators.count)
  var cells = 0
  for trace in try readTraces(directory) {
    for percent in [1, 5, 20] {
      let capacity = trace.uniqueCount * percent / 100
      let ratios = simulators.map { hitRatio($0, trace, capacity: capacity) }
      for (index, ratio) in ratios.enumerated() { sums[index] += ratio }
      cells += 1
      let best = ratios.dropLast().max() ?? 0
      let lead = ((ratios.last ?? 0) - best) * 100
      let columns = ratios.map { text($0, 4) }.joined(separator: " | ")
      print("| \(trace.name) | \(capacity) | \(columns) | \(lead < 0 ? "" : "+")\(text(lead, 2)) |")
    }
  }
  print("| mean | |", sums.map { text($0 / Double(cells), 4) }.joined(separator: " | "), "| |")
}
