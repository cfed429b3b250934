import Esker
import EskerTestSupport
import Foundation
import Testing

/// Histories of threads and tasks that use a few keys through memory in front of a log, through two fronts of the keyspace, and through
/// the log itself, while values are evicted and segments merged: each operation takes effect at one instant of its call.
@Suite(.serialized, .timeLimit(.minutes(60))) struct FrontHistoryTests {
  private typealias Model = KeyValueModel
  private static let keys = 4

  /// One operation through a view, and what came of it.
  private static func perform(_ call: Model.Call, _ view: Storage<String, Int>) throws -> Model.Outcome {
    switch call {
    case .get(let key): return .value(try view.value(forKey: "\(key)"))
    case .contains(let key): return .wasDone(try view.contains("\(key)"))
    case .put(let key, let value): try view.set(value, forKey: "\(key)")
    case .remove(let key): return .wasDone(try view.removeValue(forKey: "\(key)"))
    case .putIfAbsent(let key, let value): return .wasDone(try view.setIfAbsent(value, forKey: "\(key)"))
    case .exchange(let key, let value):
      let old = try view.update(forKey: "\(key)") { (present: inout Int?) throws(StorageError) -> Int? in
        defer { present = value }
        return present
      }
      return .value(old)
    case .increment(let key, let amount): return .value(try view.increment("\(key)", by: amount))
    case .removeAll: try view.removeAll()
    default: preconditionFailure("\(call)")
    }
    return .done
  }

  /// The same in a task, for which this thread waits.
  private static func wait(for call: Model.Call, _ view: Storage<String, Int>) throws -> Model.Outcome {
    let outcome = Collected<Result<Model.Outcome, any Error>>()
    let done = DispatchSemaphore(value: 0)
    Task.detached {
      do {
        switch call {
        case .get(let key): outcome.add(.success(.value(try await view.async.value(forKey: "\(key)"))))
        case .put(let key, let value):
          try await view.async.set(value, forKey: "\(key)")
          outcome.add(.success(.done))
        default: outcome.add(.success(try perform(call, view)))
        }
      } catch { outcome.add(.failure(error)) }
      done.signal()
    }
    done.wait()
    return try outcome.all[0].get()
  }

  private static func choose(_ value: Int, _ random: inout SeededGenerator) -> Model.Call {
    let key = Int.random(in: 0..<keys, using: &random)
    return switch Int.random(in: 0..<100, using: &random) {
    case 0..<50: .get(key)
    case 50..<54: .contains(key)
    case 54..<72: .put(key, value)
    case 72..<80: .remove(key)
    case 80..<84: .putIfAbsent(key, value)
    case 84..<90: .exchange(key, value)
    case 90..<98: .increment(key, by: 1)
    default: .removeAll
    }
  }

  @Test(arguments: [true, false]) func memoryAndLogAreOneObject(_ keepsWrites: Bool) async throws {
    var seeds = SeededGenerator(announcedFor: "memoryAndLogAreOneObject \(keepsWrites)")
    for round in 0..<Rounds.count(3, thorough: 200) {
      let path = temporaryPath()
      defer { try? FileManager.default.removeItem(atPath: path) }
      var options = Options()
      options.segmentSize = 64 << 10
      let store = try LogStore(at: path, options: options)
      let log = try LogStorage(store, "n", key: String.self, of: Int.self)
      let front = HybridStorage(log, limits: MemoryLimits(count: 3), keepsWrites: keepsWrites, remembersAbsence: true)
      let other = HybridStorage(Storage(log))
      let views = [Storage(front), Storage(front), Storage(other), Storage(log)]
      let recorder = HistoryRecorder<Model>()
      let failures = Collected<String>()
      let callers = 4
      let running = Collected<Int>()
      let generators = (0...callers).map { _ in seeds.split() }
      await onThreadsOfTheirOwn(callers + 1) { number in
        var random = generators[number]
        do {
          guard number < callers else {
            while running.count < callers {
              for _ in 0..<8 {
                try store.put([UInt8](repeating: 7, count: 3000), forKey: "filler \(random.next() % 30)")
              }
              try store.merge()
              front.removeInMemory(forKey: "\(Int.random(in: 0..<Self.keys, using: &random))")
              if random.oneIn(4) { front.trim(toCount: 1) }
              usleep(300)
            }
            return
          }
          for step in 0..<400 {
            let call = Self.choose((number + 1) * 1_000_000 + step, &random)
            let view = views[Int.random(in: 0..<views.count, using: &random)]
            let called = recorder.tick()
            let outcome = random.oneIn(6) ? try Self.wait(for: call, view) : try Self.perform(call, view)
            recorder.note("\(number)", call, outcome, calledAt: called)
          }
        } catch { failures.add("\(error)") }
        running.add(number)
      }
      #expect(failures.all == [])
      let model = Model(keys: Self.keys)
      // Of what `removeAll` does, no more is promised than for each key.
      if let objection = LinearizabilityChecker(model).objection(to: model.keyByKey(recorder.operations)) {
        Issue.record("round \(round): \(objection)")
      }
      #expect(front.statistics.hits > 0)
      try store.close()
    }
  }
}
