import Dispatch
import Esker

private let count = 100_000
private let rounds = 7
/// How often threads go through the keys while it is measured what several do.
private let passes = 10

/// Warm gets from memory ahead of a log, against a bare dictionary, on one thread and on two; and through compositions.
func measureFronts(_ store: LogStore) throws -> Int {
  var sum = try measureWarmGets(store, "Int", (0..<count).map { $0 &* 0x9E37_79B9 })
  sum &+= try measureWarmGets(store, "String", (0..<count).map { "key\($0 &* 0x9E37_79B9 % 10_000_000)" })
  return sum
}

private func measureWarmGets<Key: StorageKey>(_ store: LogStore, _ kind: String, _ keys: [Key]) throws -> Int {
  let hybrid = HybridStorage(try LogStorage(store, "front of \(kind)", key: Key.self, of: Int.self))
  var dictionary: [Key: Int] = [:]
  for (value, key) in keys.enumerated() {
    try hybrid.set(value, forKey: key)
    dictionary[key] = value
  }
  let erased = Storage(hybrid)
  let composed = hybrid.mapValues(to: Int.self) { $0 &+ 1 }.mapKeys { (key: Key) in key }.defaulting(to: 0)
  let bare = dictionary
  let subjects: [@Sendable () throws -> Int] = [
    { keys.reduce(0) { $0 &+ (bare[$1] ?? 0) } },
    { try keys.reduce(0) { $0 &+ (try hybrid.value(forKey: $1) ?? 0) } },
    { try keys.reduce(0) { $0 &+ (try erased.value(forKey: $1) ?? 0) } },
    { try keys.reduce(0) { $0 &+ (try composed.value(forKey: $1) ?? 0) } },
  ]
  var sum = 0
  let one = try best(rounds, of: count, subjects.map { subject in { sum &+= try subject() } })
  let dictionaryScaling = try scaling(subjects[0])
  let hybridScaling = try scaling(subjects[1])
  row("\(kind) dictionary", one[0], "\(text(dictionaryScaling, 2)) times on two threads")
  row("\(kind) hybrid", one[1], "\(text(one[0] / one[1], 2)) of the dictionary, \(text(hybridScaling, 2)) times on two")
  row("\(kind) hybrid erased", one[2], "\(text(one[2] / one[1], 2)) times the hybrid")
  row("\(kind) mapValues+mapKeys+defaulting", one[3], "\(text(one[3] / one[1], 2)) times the hybrid")
  let log = try LogStorage(store, "front of \(kind)", key: Key.self, of: Int.self)
  let behind = try LogStorage(store, "no front of \(kind)", key: Key.self, of: Int.self)
  let writes = try best(
    rounds,
    of: count,
    [
      { for (value, key) in keys.enumerated() { try behind.set(value, forKey: key) } },
      { for (value, key) in keys.enumerated() { try hybrid.set(value, forKey: key) } },
      { for (value, key) in keys.enumerated() { try log.set(value, forKey: key) } },
      { for key in keys { sum &+= try behind.value(forKey: key) ?? 0 } },
      {
        // The writes before have put nothing into memory, so each of these fills it.
        for key in keys { sum &+= try hybrid.value(forKey: key) ?? 0 }
      },
    ]
  )
  row("\(kind) set, log alone", writes[0])
  row("\(kind) set through the front", writes[1], "\(text(writes[0] / writes[1], 2)) of the log alone")
  row("\(kind) set beside the front", writes[2], "\(text(writes[0] / writes[2], 2)) of the log alone")
  row("\(kind) get, log alone", writes[3])
  row("\(kind) get that fills the front", writes[4], "\(text(writes[3] / writes[4], 2)) of the log alone")
  let asynchronous = measureAsync(hybrid, keys)
  row("\(kind) hybrid async", asynchronous, "\(text(one[1] / asynchronous, 2)) of sync")
  return sum &+ hybrid.statistics.hits
}

/// How many times as much two threads do as one. They go on for much longer than starting them takes.
private func scaling(_ subject: @escaping @Sendable () throws -> Int) throws -> Double {
  let times = try best(
    rounds,
    of: 1,
    (1...2).map { threads in
      {
        DispatchQueue.concurrentPerform(iterations: threads) { _ in
          for _ in 0..<passes { blackHole((try? subject()) ?? 0) }
        }
      }
    }
  )
  return 2 * times[0] / times[1]
}

/// Takes a value whose making must not be left out.
@inline(never)
private func blackHole(_ value: Int) { if value == .min { print() } }

/// Nanoseconds an asynchronous warm get, from a task.
private func measureAsync<Key: StorageKey>(_ hybrid: HybridStorage<LogStorage<Key, Int>>, _ keys: [Key]) -> Double {
  let done = DispatchSemaphore(value: 0)
  nonisolated(unsafe) var nanoseconds = Double.infinity
  Task.detached {
    for _ in 0..<rounds {
      let start = DispatchTime.now().uptimeNanoseconds
      for key in keys { blackHole((try? await hybrid.async.value(forKey: key)) ?? 0) }
      nanoseconds = min(nanoseconds, Double(DispatchTime.now().uptimeNanoseconds - start) / Double(keys.count))
    }
    done.signal()
  }
  done.wait()
  return nanoseconds
}
