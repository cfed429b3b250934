import Esker
import EskerTestSupport
import Foundation
import Testing

/// Random work on one keyspace from many threads through many views, with and without memory ahead, while a merge runs over
/// small segments. Each key has one writer, so its versions are written one after the other; whoever reads must not see a
/// version older than one that anybody had finished writing or reading before the read began.
@Suite(.serialized) struct HybridCheckerTests {
  private struct Wrapped: Sendable { let version: Int }

  @Test(arguments: [true, false])
  func nobodyReadsWhatIsOlderThanWhatWasSeen(policy: Bool) async throws {
    var seeds = SeededGenerator(announcedFor: "nobodyReadsWhatIsOlderThanWhatWasSeen \(policy)")
    let path = temporaryPath()
    defer { try? FileManager.default.removeItem(atPath: path) }
    var options = Options()
    options.segmentSize = 64 << 10
    let store = try LogStore(at: path, options: options)
    let log = try LogStorage(store, "n", key: String.self, of: Int.self)
    let front = HybridStorage(
      log,
      limits: MemoryLimits(count: 12),
      keepsWrites: policy,
      remembersAbsence: true
    )
    let wrapped = front.transform(
      to: Transformer<Int>.littleEndian.map(id: "wrapped", to: { Wrapped(version: $0) }, from: { $0.version })
    )
    let unwrapped = wrapped.mapValues {
      $0.version
    } from: {
      Wrapped(version: $0)
    }
    let views: [Storage<String, Int>] = [
      Storage(front), Storage(front), Storage(log), Storage(HybridStorage(Storage(log))),
      Storage(unwrapped),
    ]
    let keysOfWriter = 6
    let writers = 3
    let keys = (0..<writers * keysOfWriter).map { "key-\($0)-é" }
    let histories = keys.map { _ in VersionHistory() }
    let objections = Collected<String>()
    let gates = (0..<writers).map { _ in NSLock() }
    let effort = Effort(10_000)
    let generators = (0..<writers + 4).map { _ in seeds.split() }

    await onThreadsOfTheirOwn(writers + 4) { thread in
      var random = generators[thread]
      var reads = 0
      do {
        while thread < writers ? effort.step() : effort.isLeft, objections.count == 0 {
          let number = Int.random(in: 0..<views.count, using: &random)
          let view = views[number]
          if thread < writers {
            let index = thread * keysOfWriter + Int.random(in: 0..<keysOfWriter, using: &random)
            let (key, history) = (keys[index], histories[index])
            gates[thread].lock()
            defer { gates[thread].unlock() }
            let kind = Int.random(in: 0..<10, using: &random)
            let version = history.begin(mayBeAbsent: kind < 2, step: "kind \(kind) view \(number)")
            switch kind {
            case 0:
              try view.removeValue(forKey: key)
            case 1:
              try view.set(version, forKey: key, expiry: .after(.milliseconds(Int.random(in: 0..<3, using: &random))))
            case 2, 3:
              try view.update(forKey: key, expiry: .never) { (value: inout Int?) throws(StorageError) in
                if let value, value >= version { objections.add("update of \(version) found \(value)") }
                value = version
              }
            case 4:
              let done = DispatchSemaphore(value: 0)
              Task.detached {
                do { try await view.async.set(version, forKey: key) } catch { objections.add("\(error)") }
                done.signal()
              }
              done.wait()
            default:
              try view.set(version, forKey: key)
            }
            history.finish(version)
          } else if thread == writers {
            for gate in gates { gate.lock() }
            defer { for gate in gates { gate.unlock() } }
            for history in histories { _ = history.begin(mayBeAbsent: true, step: "all, view \(number)") }
            try view.removeAll()
            for history in histories { history.finishAll() }
            for gate in gates { gate.unlock() }
            usleep(20_000)
            for gate in gates { gate.lock() }
          } else if thread == writers + 1 {
            try store.merge()
            front.removeInMemory(forKey: keys[Int.random(in: 0..<keys.count, using: &random)])
            front.trim(toCount: 6)
            usleep(3000)
          } else {
            reads += 1
            effort.goAlong(reads, perStep: 20)
            let index = Int.random(in: 0..<keys.count, using: &random)
            let history = histories[index]
            let floor = history.floor
            let found = try view.entry(forKey: keys[index])
            history.note("read \(found.map { "\($0.value) \($0.origin)" } ?? "none") view \(number)")
            if let objection = history.objection(to: found?.value, floor) {
              objections.add("\(keys[index]) in view \(number): \(objection), after: \(history.lastSteps)")
            }
          }
        }
      } catch {
        objections.add("\(error)")
        effort.end()
      }
    }
    #expect(objections.all == [])
    for key in keys {
      let truth = try log.value(forKey: key)
      for view in views { #expect(try view.value(forKey: key) == truth) }
    }
    #expect(front.statistics.hits > 0)
    try store.close()
  }
}
