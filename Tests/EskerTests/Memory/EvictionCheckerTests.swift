import Esker
import EskerTestSupport
import Foundation
import Testing

/// As `HybridCheckerTests`, over a store that evicts, with memory for few entries that several views share, time that passes by a
/// fake clock, and writes past all views.
@Suite(.serialized) struct EvictionCheckerTests {
  private struct Text: Sendable { let version: Int }

  @Test(arguments: [true, false])
  func tiersAgreeWhileBothEvict(policy: Bool) async throws {
    var seeds = SeededGenerator(announcedFor: "tiersAgreeWhileBothEvict \(policy)")
    let clock = FakeClock()
    let path = temporaryPath()
    defer { try? FileManager.default.removeItem(atPath: path) }
    var options = Options()
    options.segmentSize = 64 << 10
    options.capacity = 1 << 20
    options.clock = clock.storeClock
    let evictions = Collected<Int>()
    options.onEvent = { if case .evicted(let records, _) = $0 { evictions.add(records) } }
    let store = try LogStore(at: path, options: options)
    let log = try LogStorage(store, "n", key: String.self, of: Int.self)
    let fillers = try store.keyspace("fillers")
    let front = HybridStorage(log, limits: MemoryLimits(count: 7), keepsWrites: policy, remembersAbsence: true)
    let texts = front.transform(
      to: Transformer<Int>.standard.map(id: "text", to: { Text(version: $0) }, from: { $0.version })
    )
    let views: [Storage<String, Int>] = [
      Storage(front), Storage(log), Storage(HybridStorage(log)),
      Storage(
        texts.mapValues {
          $0.version
        } from: {
          Text(version: $0)
        }
      ),
      try Storage(front).transform(to: .standard),
    ]
    let keysOfWriter = 8
    let writers = 3
    let keys = (0..<writers * keysOfWriter).map { "key-\($0)" }
    let histories = keys.map { _ in VersionHistory() }
    for history in histories { history.mayAlwaysBeAbsent() }
    let objections = Collected<String>()
    let gates = (0..<writers).map { _ in NSLock() }
    let effort = Effort(2000)
    let generators = (0..<writers + 4).map { _ in seeds.split() }

    await onThreadsOfTheirOwn(writers + 4) { thread in
      var random = generators[thread]
      var reads = 0
      func check(_ index: Int, _ view: Storage<String, Int>) throws {
        let floor = histories[index].floor
        let found = try view.value(forKey: keys[index])
        if let objection = histories[index].objection(to: found, floor) {
          objections.add("\(keys[index]): \(objection)")
        }
        if front.statistics.count > 7 { objections.add("\(front.statistics.count) entries in memory") }
      }
      do {
        while thread < writers ? effort.step() : effort.isLeft, objections.count == 0 {
          let view = views[Int.random(in: 0..<views.count, using: &random)]
          if thread < writers {
            // Some keys are written seldom, so that they are old enough to be evicted.
            let rank = Double.random(in: 0..<1, using: &random)
            let index = thread * keysOfWriter + Int(rank * rank * rank * rank * Double(keysOfWriter))
            let (key, history) = (keys[index], histories[index])
            gates[thread].lock()
            defer { gates[thread].unlock() }
            let version = history.begin(mayBeAbsent: true)
            let bytes = try log.values.encode(version)
            switch Int.random(in: 0..<12, using: &random) {
            case 0: try view.removeValue(forKey: key)
            case 1:
              let life = Duration.milliseconds(Int.random(in: 0..<20, using: &random))
              try view.set(version, forKey: key, expiry: .after(life))
            case 2, 3:
              try view.update(forKey: key, expiry: .never) { (value: inout Int?) throws(StorageError) in
                if let value, value >= version { objections.add("update of \(version) found \(value)") }
                value = version
              }
            case 4: try log.keyspace.put(bytes, forKey: key)
            case 5: try log.keyspace.remove(key)
            case 6:
              try store.write { (batch) throws(StoreError) in
                try batch.put([UInt8](repeating: 0, count: 300), forKey: "filler \(version)", in: fillers)
                try batch.put(bytes, forKey: key, in: log.keyspace)
              }
            case 7:
              try log.keyspace.update(forKey: key) { (found) throws(StoreError) -> Update in
                if let found, let old = try? log.values.decode(found), old >= version {
                  objections.add("raw update of \(version) found \(old)")
                }
                return .put(bytes)
              }
            default: try view.set(version, forKey: key)
            }
            history.finish(version)
            try check(index, view)
          } else if thread == writers {
            for _ in 0..<20 {
              let filler = "filler \(Int.random(in: 0..<1_000_000, using: &random))"
              try fillers.put([UInt8](repeating: 1, count: 8000), forKey: filler)
            }
            clock.advance(milliseconds: 1)
            usleep(1000)
          } else if thread == writers + 1 {
            if Int.random(in: 0..<4, using: &random) == 0 {
              for gate in gates { gate.lock() }
              defer { for gate in gates { gate.unlock() } }
              for history in histories { _ = history.begin(mayBeAbsent: true) }
              if Bool.random(using: &random) { try view.removeAll() } else { try log.keyspace.removeAll() }
              for history in histories { history.finishAll() }
            }
            try store.merge()
            front.removeInMemory(forKey: keys[Int.random(in: 0..<keys.count, using: &random)])
            front.trim(toCount: 3)
            try front.removeExpired()
            usleep(20_000)
          } else {
            reads += 1
            effort.goAlong(reads, perStep: 20)
            try check(Int.random(in: 0..<keys.count, using: &random), view)
          }
        }
      } catch {
        objections.add("\(error)")
        effort.end()
      }
    }
    #expect(objections.all == [])
    // Whatever threads had the time for: in the end the log has evicted what was in memory.
    for key in keys { try front.set(1_000_000, forKey: key) }
    for key in keys.suffix(5) { _ = try front.value(forKey: key) }
    #expect(try log.count() == keys.count && front.statistics.count > 0)
    for number in 0..<400 {
      try fillers.put([UInt8](repeating: 2, count: 8000), forKey: "last \(number)")
      clock.advance(milliseconds: 10)
    }
    #expect(try evictions.count > 0 && log.count() < keys.count)
    for key in keys {
      let truth = try log.value(forKey: key)
      for view in views { #expect(try view.value(forKey: key) == truth) }
    }
    let statistics = front.statistics
    #expect(statistics.hits > 0 && statistics.evictions > 0)
    try store.close()
  }
}
