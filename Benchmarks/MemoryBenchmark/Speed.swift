import Dispatch
import EskerMemory
import EskerPlatform
import Foundation

private let entryCount = 100_000
private let operationCount = 4_000_000

/// Prints nanoseconds a get of 100,000 warm entries, on one thread and on two.
func printSpeeds() {
  print("| keys | order | threads | subject | ns a get | of the dictionary | scaling |")
  print("|---|---|---|---|---|---|---|")
  let numbers = (0..<entryCount).map { $0 &* 0x9E37_79B9 }
  let uniform = order(zipfian: false)
  let zipfian = order(zipfian: true)
  measure("Int", "uniform", numbers, uniform)
  measure("Int", "zipfian 0.99", numbers, zipfian)
  let names = numbers.map { String(format: "key%07d", $0 % 10_000_000) }
  measure("String", "uniform", names, uniform)
  measure("String", "zipfian 0.99", names, zipfian)
}

/// Which keys are asked for, one list a thread.
private func order(zipfian: Bool) -> [[Int32]] {
  var state: UInt64 = 42
  let ranks = ZipfianRanks(count: entryCount)
  return (0..<2).map { _ in
    (0..<operationCount).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let unit = Double(state >> 11) / Double(1 << 53)
      return Int32(zipfian ? ranks.rank(for: unit) : Int(unit * Double(entryCount)))
    }
  }
}

private func measure<Key: Hashable & Sendable>(_ kind: String, _ orderName: String, _ keys: [Key], _ order: [[Int32]]) {
  let dictionary = Dictionary(zip(keys, 0...), uniquingKeysWith: { first, _ in first })
  let cache = MemoryCache<Key, Int>()
  for (key, value) in dictionary { cache.put(value, forKey: key, now: 0) }
  let locked = LockedDictionaries(dictionary)
  var rows: [(name: String, one: [Double], two: [Double])] = [
    ("dictionary", [], []), ("locked dictionaries", [], []), ("cache", [], []),
  ]
  var sums: Set<Int> = []
  // The subjects take turns, and the median counts.
  let none = CommandLine.arguments.count > 1000 ? 1 : 0
  let subjects: [@Sendable ([Int32]) -> Int] = [
    { getAll($0, keys, none, dictionary) }, { getAll($0, keys, none, locked) }, { getAll($0, keys, none, cache) },
  ]
  for _ in 0..<5 {
    for (index, get) in subjects.enumerated() {
      let (one, sumOfOne) = time([order[0]], get)
      let (two, sumOfTwo) = time(order, get)
      rows[index].one.append(one)
      rows[index].two.append(two)
      sums.insert(sumOfOne &* 31 &+ sumOfTwo)
    }
  }
  precondition(sums.count == 1, "the subjects read different values")
  let base = median(rows[0].one)
  let baseOfTwo = median(rows[0].two)
  for row in rows {
    let (one, two) = (median(row.one), median(row.two))
    print("| \(kind) | \(orderName) | 1 | \(row.name) | \(text(one, 1)) | \(text(base / one, 2)) | |")
    print(
      "| \(kind) | \(orderName) | 2 | \(row.name) | \(text(two, 1)) | \(text(baseOfTwo / two, 2)) | \(text(one / two, 2)) |"
    )
  }
}

private func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

/// Nanoseconds a get over all threads, and the sum of what they read.
private func time(_ orders: [[Int32]], _ get: @escaping @Sendable ([Int32]) -> Int) -> (nanoseconds: Double, sum: Int) {
  let sums = Guarded(0, .unranked)
  let start = DispatchTime.now().uptimeNanoseconds
  DispatchQueue.concurrentPerform(iterations: orders.count) { thread in
    let sum = get(orders[thread])
    sums.withLock { $0 &+= sum }
  }
  let elapsed = Double(DispatchTime.now().uptimeNanoseconds - start)
  return (elapsed / Double(orders.count * operationCount), sums.withLock { $0 })
}

// Each get begins when the value of the one before is there, as a program's does that uses what it gets: the index depends on the
// sum of the values, of which `none`, zero at run time only, leaves nothing.

private func getAll<Key>(_ list: [Int32], _ keys: [Key], _ none: Int, _ dictionary: [Key: Int]) -> Int {
  var sum = 0
  for index in list { sum &+= dictionary[keys[Int(index) + sum & none]] ?? 0 }
  return sum
}

private func getAll<Key>(_ list: [Int32], _ keys: [Key], _ none: Int, _ cache: MemoryCache<Key, Int>) -> Int {
  var sum = 0
  for index in list { sum &+= cache.get(keys[Int(index) + sum & none], now: 0) ?? 0 }
  return sum
}

private func getAll<Key>(_ list: [Int32], _ keys: [Key], _ none: Int, _ dictionaries: LockedDictionaries<Key>) -> Int {
  var sum = 0
  for index in list { sum &+= dictionaries.get(keys[Int(index) + sum & none]) ?? 0 }
  return sum
}

/// What a cache with a lock a shard would be at the least: 64 dictionaries with a mutex each, and no policy at all.
private final class LockedDictionaries<Key: Hashable & Sendable>: Sendable {
  private final class Part: Sendable {
    let dictionary: Guarded<[Key: Int]>
    init(_ dictionary: [Key: Int]) { self.dictionary = Guarded(dictionary, .unranked) }
  }
  private let parts: [Part]

  init(_ dictionary: [Key: Int]) {
    let grouped = Dictionary(grouping: dictionary) { $0.key.hashValue & 63 }
    parts = (0..<64).map { index in
      Part(Dictionary(grouped[index]?.map { ($0.key, $0.value) } ?? [], uniquingKeysWith: { first, _ in first }))
    }
  }

  func get(_ key: Key) -> Int? {
    parts[key.hashValue & 63].dictionary.withLock { $0[key] }
  }
}
