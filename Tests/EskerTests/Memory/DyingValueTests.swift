import Esker
import EskerTestSupport
import Foundation
import Testing

/// Values whose end calls the storage that they were in.
///
/// A value that ended under a lock of the storage or of the store would wait for itself.
@Suite(.timeLimit(.minutes(60))) struct DyingValueTests {
  final class Mortal: Sendable {
    let number: Int
    private let atEnd: @Sendable () -> Void

    init(_ number: Int, _ atEnd: @escaping @Sendable () -> Void) {
      self.number = number
      self.atEnd = atEnd
    }

    deinit { atEnd() }
  }

  @Test(arguments: [false, true]) func valueMayCallTheMemoryStorageItWasIn(_ isObserved: Bool) throws {
    let clock = FakeClock()
    let storage = MemoryStorage<Int, Mortal>(limits: MemoryLimits(count: 10), clock: clock.storeClock)
    let ended = Collected<Int>()
    let atEnd: @Sendable () -> Void = { [weak storage] in
      ended.add(1)
      guard let storage else { return }
      _ = try? storage.value(forKey: 1)
      try? storage.set(Mortal(0) {}, forKey: 1, expiry: nil)
      _ = try? storage.removeValue(forKey: 2)
    }
    let observation = isObserved ? try storage.observe { _ in } : nil
    for round in 0..<50 {
      for key in 0..<20 { try storage.set(Mortal(key, atEnd), forKey: key, expiry: nil) }
      try storage.set(Mortal(5, atEnd), forKey: 5, expiry: nil)
      try storage.update(forKey: 6, expiry: nil) { $0 = Mortal(6, atEnd) }
      try storage.removeValue(forKey: 5)
      try storage.set(Mortal(7, atEnd), forKey: 7, expiry: .after(.seconds(1)))
      try storage.set(Mortal(8, atEnd), forKey: 8, expiry: .after(.seconds(1)))
      clock.advance(milliseconds: 1000)
      _ = try storage.value(forKey: 7)
      try storage.removeExpired()
      storage.trim(toCount: round % 5)
      try storage.removeAll()
    }
    // What another test's reader, stopped in the middle of a get, kept from ending ends with a later write.
    let haveEnded = try eventually {
      try storage.removeAll()
      return ended.count >= 1000
    }
    #expect(haveEnded)
    observation?.cancel()
    try storage.removeAll()
  }

  /// A key whose form calls a storage when it is decoded.
  struct Calling: StorageKey {
    static let called = MemoryStorage<Int, Int>()
    let number: Int

    static var keyTransformer: KeyTransformer<Calling> {
      Int.keyTransformer.map(
        id: "calling",
        to: {
          try? called.set($0, forKey: $0)
          return Calling(number: $0)
        },
        from: { $0.number }
      )
    }
  }

  @Test func decodingAKeyAndTellingTheTimeMayCallAStorage() throws {
    let times = MemoryStorage<Int, Int>()
    let fake = FakeClock()
    let clock = Options.Clock(
      now: {
        try? times.set(1, forKey: 1)
        return fake.storeClock.now()
      },
      uptimeNanoseconds: fake.storeClock.uptimeNanoseconds
    )
    let storage = MemoryStorage<Calling, Int>(clock: clock)
    let told = Collected<Int>()
    let observation = try storage.observe { if case .set(let key, _, _) = $0 { told.add(key.number) } }
    for number in 0..<10 {
      try storage.set(number, forKey: Calling(number: number), expiry: .after(.seconds(10)))
      #expect(try storage.touch(Calling(number: number), expiry: .after(.seconds(20))))
    }
    // Of each key, its value and its other expiry.
    #expect(told.reach(20) && told.all == (0..<10).flatMap { [$0, $0] })
    observation.cancel()
  }

  @Test(arguments: [true, false]) func valueMayCallTheHybridStorageItWasIn(
    _ policy: Bool
  ) throws {
    try withTemporaryStore { store in
      let ended = Collected<Int>()
      let calls = Collected<@Sendable () -> Void>()
      let atEnd: @Sendable () -> Void = {
        ended.add(1)
        for call in calls.all { call() }
      }
      let transformer = Transformer<Mortal>(id: "mortal") { mortal in
        [UInt8(truncatingIfNeeded: mortal.number)]
      } decode: { bytes in
        Mortal(Int(bytes.copied().first ?? 0), atEnd)
      }
      let log = try LogStorage(store, "mortals", key: String.self, transformer: transformer)
      let hybrid = HybridStorage(log, limits: MemoryLimits(count: 10), keepsWrites: policy)
      let keyspace = log.keyspace
      calls.add {
        _ = try? keyspace.get("a")
        _ = try? keyspace.put([1], forKey: "end")
        _ = try? keyspace.remove("end")
      }
      func fill() throws { for key in ["a", "b", "c"] { _ = try hybrid.value(forKey: key) } }
      for key in ["a", "b", "c"] { try keyspace.put([1], forKey: key) }
      for round in 0..<20 {
        try fill()
        try keyspace.put([2], forKey: "a")
        try store.write { (batch) throws(StoreError) in try batch.put([3], forKey: "b", in: keyspace) }
        try keyspace.remove("c")
        try fill()
        try hybrid.set(Mortal(round, atEnd), forKey: "a")
        try hybrid.update(forKey: "b") { $0 = Mortal(round, atEnd) }
        try hybrid.removeValue(forKey: "a")
        try fill()
        try keyspace.removeAll()
        try keyspace.put([1], forKey: "a")
        try fill()
        try hybrid.removeAll()
        try keyspace.put([1], forKey: "c")
      }
      #expect(ended.count > 0)
    }
  }

  @Test func transformerMayCallTheStorageItWritesTo() async {
    await #expect(processExitsWith: .success) {
      alarm(1200)
      try withTemporaryStore { store in
        let calls = Collected<@Sendable () -> Void>()
        let curious = Transformer<Int>(id: "curious") { number in
          if number > 0 { for call in calls.all { call() } }
          return [UInt8(truncatingIfNeeded: number)]
        } decode: { bytes in
          Int(bytes.copied().first ?? 0)
        }
        let log = try LogStorage(store, "n", key: String.self, transformer: curious)
        let fronts = (0..<2).map { _ in HybridStorage(log) }
        calls.add {
          for front in fronts {
            _ = try? front.value(forKey: "a")
            try? front.set(0, forKey: "x")
            try? front.set(0, forKey: "y")
          }
          _ = try? log.value(forKey: "a")
          _ = try? log.keyspace.put([0], forKey: "z")
        }
        onThreads(2) { thread in
          for number in 1..<300 { try? fronts[thread].set(number, forKey: "\(thread)") }
        }
        let (last, keys) = (try ["0", "1"].map { try log.value(forKey: $0) }, try log.keys())
        precondition(last == [299 % 256, 299 % 256] && keys.sorted() == ["0", "1", "x", "y", "z"])
      }
    }
  }

  @Test func emptyingAKeyspaceEndsTheValuesAheadOfIt() async {
    // In a process of its own: another test's reader, stopped in the middle of a get, would put the values' end off.
    await #expect(processExitsWith: .success) {
      try withTemporaryStore { store in
        let ended = Collected<Int>()
        let transformer = Transformer<Mortal>(id: "mortal") { _ in
          [UInt8]()
        } decode: { _ in
          Mortal(0) { ended.add(1) }
        }
        let hybrid = HybridStorage(try LogStorage(store, "mortals", key: String.self, transformer: transformer))
        for key in 0..<100 { try hybrid.back.keyspace.put([1], forKey: "\(key)") }
        for key in 0..<100 { _ = try hybrid.value(forKey: "\(key)") }
        precondition(ended.count == 0)
        try hybrid.removeValue(forKey: "7")
        precondition(ended.count > 0)
        try hybrid.back.keyspace.removeAll()
        precondition(ended.count == 100 || ended.count == 101)
      }
    }
  }
}
