import Dispatch
import EskerIndex
import EskerPlatform
import Synchronization

/// Fills an index and probes it; prints nanoseconds an operation, bytes a key and a checksum of what was found.
func runIndexBenchmark(sizes: [Int]) {
  for size in sizes {
    guard let log = SimulatedLog(capacity: size) else {
      print("no memory for \(size) records")
      return
    }
    for number in 0..<size { log.write(number) }
    print("keys \(size)")
    measureFill(size)
    measureProbes(size, log)
  }
  measurePin()
}

/// CPU time of the calling thread.
func nanoseconds(_ work: () -> Void) -> Double {
  let start = threadNanoseconds()
  work()
  return Double(threadNanoseconds() - start)
}

func show(_ name: String, _ value: Double, _ unit: String) {
  let text = "\((value * 10).rounded() / 10)"
  print("  \(name)", String(repeating: " ", count: max(1, 34 - name.count)), text, unit)
}

/// Prepares growth beside the writer, as the engine's background thread does.
final class GrowthThread: Sendable {
  private final class Flag: Sendable { let isSet = Atomic<Bool>(false) }
  private let stopped = Flag()
  private let group = DispatchGroup()

  init(_ index: HashIndex) {
    DispatchQueue.global().async(group: group) { [stopped] in
      while !stopped.isSet.load(ordering: .acquiring) {
        if index.needsGrowth { index.prepareGrowth() } else { sleepMicroseconds(200) }
      }
    }
  }

  func stop() {
    stopped.isSet.store(true, ordering: .releasing)
    group.wait()
  }
}

/// Time and memory of a fill, step by step.
func measureFill(_ size: Int) {
  guard let index = HashIndex(epochs: .shared) else { return }
  let growth = GrowthThread(index)
  var slow: [UInt64] = []
  var slowestInCPUTime: UInt64 = 0
  var bytesSum = 0.0
  var bytesMaximum = 0.0
  var bytesMaximumCount = 0
  var samples = 0
  for number in 0..<size {
    let start = DispatchTime.now().uptimeNanoseconds
    let startInCPUTime = threadNanoseconds()
    guard index.insert(Key(number).hash, address: SimulatedLog.address(number)) else { return }
    slowestInCPUTime = max(slowestInCPUTime, threadNanoseconds() - startInCPUTime)
    let time = DispatchTime.now().uptimeNanoseconds - start
    if time > 5_000 { slow.append(time) }
    if number % 256 == 0 && number >= 100_000 {
      let bytes = Double(index.memoryBytes) / Double(number + 1)
      bytesSum += bytes
      samples += 1
      if bytes > bytesMaximum {
        bytesMaximum = bytes
        bytesMaximumCount = number
      }
    }
  }
  growth.stop()
  slow.sort()
  show("bytes a key, mean from 100,000 on", bytesSum / Double(max(1, samples)), "B")
  show("bytes a key, maximum", bytesMaximum, "B at \(bytesMaximumCount) keys")
  show("bytes a key, at the end", Double(index.memoryBytes) / Double(size), "B")
  show("slowest insertion, wall", Double(slow.last ?? 0) / 1000, "us")
  show("slowest insertion, CPU", Double(slowestInCPUTime) / 1000, "us")
  show("insertions above 5 us", Double(slow.count), "")
  if slow.count > 10 { show("tenth slowest insertion", Double(slow[slow.count - 10]) / 1000, "us") }
  show("overflow lines a hundred buckets", Double(index.overflowLineCount) / Double(index.bucketCount) * 100, "")
}

func measureProbes(_ size: Int, _ log: SimulatedLog) {
  guard let index = HashIndex(epochs: .shared) else { return }
  let growth = GrowthThread(index)
  var isFilled = true
  let insertTime = nanoseconds {
    for number in 0..<size {
      isFilled = index.insert(Key(number).hash, address: SimulatedLog.address(number)) && isFilled
    }
  }
  guard isFilled else { return }
  show("insert", insertTime / Double(size), "ns")
  growth.stop()
  while index.needsGrowth { index.prepareGrowth() }

  let count = 3_000_000
  var checksum = 0
  let hot = nanoseconds { checksum &+= hits(index, log, keys: 4096, count: count, seed: 1) }
  show("hit, 4,096 hot keys", hot / Double(count), "ns")
  let hit = nanoseconds { checksum &+= hits(index, log, keys: size, count: count, seed: 2) }
  show("hit", hit / Double(count), "ns")
  let miss = nanoseconds { checksum &+= misses(index, log, keys: size, count: count) }
  show("miss", miss / Double(count), "ns")
  let batched = nanoseconds { checksum &+= batchedHits(index, log, keys: size, count: count) }
  show("hit, batches of 16", batched / Double(count), "ns")
  let total = Atomic<Int>(0)
  let spent = Atomic<Int>(0)
  DispatchQueue.concurrentPerform(iterations: 2) { thread in
    let time = nanoseconds {
      total.wrappingAdd(hits(index, log, keys: size, count: count, seed: UInt64(thread + 3)), ordering: .relaxed)
    }
    spent.wrappingAdd(Int(time), ordering: .relaxed)
  }
  show("hit, each of 2 threads", Double(spent.load(ordering: .relaxed)) / Double(2 * count), "ns")
  let replaced = nanoseconds { checksum &+= replacements(index, log, keys: size, count: count) }
  show("replace", replaced / Double(count), "ns")
  let removeTime = nanoseconds {
    for number in 0..<min(size, count) where !index.remove(Key(number).hash, address: SimulatedLog.address(number)) {
      checksum = -1
    }
  }
  show("remove, in order of insertion", removeTime / Double(min(size, count)), "ns")
  print("   checksum", checksum, total.load(ordering: .relaxed))
}

@inline(never)
func hits(_ index: HashIndex, _ log: SimulatedLog, keys: Int, count: Int, seed: UInt64) -> Int {
  var random = seed &* 0x1234_5678_9ABC
  var sum = 0
  for _ in 0..<count {
    random &+= 0x9E37_79B9_7F4A_7C15
    let key = Key(Int(mix(random) % UInt64(keys)))
    let pin = EpochDomain.shared.enter()
    var probe = index.probe(key.hash)
    while let address = probe.next() {
      if log.holds(key, at: address) {
        sum &+= Int(address)
        break
      }
    }
    EpochDomain.shared.exit(pin)
  }
  return sum
}

@inline(never)
func misses(_ index: HashIndex, _ log: SimulatedLog, keys: Int, count: Int) -> Int {
  var sum = 0
  for number in 0..<count {
    let key = Key(keys + number)
    let pin = EpochDomain.shared.enter()
    var probe = index.probe(key.hash)
    while let address = probe.next() {
      if log.holds(key, at: address) { sum &+= 1 }
    }
    EpochDomain.shared.exit(pin)
  }
  return sum
}

@inline(never)
func batchedHits(_ index: HashIndex, _ log: SimulatedLog, keys: Int, count: Int) -> Int {
  var random: UInt64 = 99
  var sum = 0
  var batch = [Key](repeating: Key(0), count: 16)
  for _ in 0..<count / 16 {
    let pin = EpochDomain.shared.enter()
    for slot in 0..<16 {
      random &+= 0x9E37_79B9_7F4A_7C15
      batch[slot] = Key(Int(mix(random) % UInt64(keys)))
      index.reader.prefetch(batch[slot].hash)
    }
    for slot in 0..<16 {
      var probe = index.probe(batch[slot].hash)
      while let address = probe.next() {
        if log.holds(batch[slot], at: address) {
          sum &+= Int(address)
          break
        }
      }
    }
    EpochDomain.shared.exit(pin)
  }
  return sum
}

@inline(never)
func replacements(_ index: HashIndex, _ log: SimulatedLog, keys: Int, count: Int) -> Int {
  var random: UInt64 = 77
  var sum = 0
  for _ in 0..<count {
    random &+= 0x9E37_79B9_7F4A_7C15
    let key = Key(Int(mix(random) % UInt64(keys)))
    var probe = index.writeProbe(key.hash)
    while let address = probe.next() {
      if log.holds(key, at: address) {
        probe.replaceCurrent(with: address)
        sum &+= 1
        break
      }
    }
  }
  return sum
}

func measurePin() {
  let count = 20_000_000
  let time = nanoseconds {
    for _ in 0..<count { EpochDomain.shared.exit(EpochDomain.shared.enter()) }
  }
  print("epochs")
  show("pin and unpin", time / Double(count), "ns")
}
