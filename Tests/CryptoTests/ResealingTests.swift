import Esker
import EskerCrypto
import EskerTestSupport
import Foundation
import Synchronization
import Testing

@Suite struct ResealingTests {
  private let first = KeyRing.Key.random(id: 1)
  private let second = KeyRing.Key.random(id: 2, algorithm: .chaChaPoly)

  private func numbers(_ store: LogStore, _ keys: KeyRing) throws -> Storage<Int, Int> {
    try store.storage("numbers", key: Int.self, transformer: Transformer<Int>.littleEndian.sealed(with: keys))
  }

  /// How many values each key has sealed.
  private func counts(_ store: LogStore) throws -> [UInt32: Int] {
    var counts: [UInt32: Int] = [:]
    for entry in try store.keyspace("numbers").entries(in: .all) { counts[keyID(entry.value) ?? 0, default: 0] += 1 }
    return counts
  }

  @Test func rotationTakesEffectWithTheNextWriteAndOldValuesStayReadable() throws {
    try withStore { store in
      let keys = try KeyRing(first)
      let numbers = try numbers(store, keys)
      try numbers.set(1, forKey: 1)
      try keys.rotate(to: second)
      try numbers.set(2, forKey: 2)
      #expect(try counts(store) == [1: 1, 2: 1])
      #expect(try numbers.value(forKey: 1) == 1)
      #expect(try numbers.value(forKey: 2) == 2)
    }
  }

  @Test func allValuesAreSealedAnewAndNothingElseChanges() throws {
    try withStore { store in
      let keys = try KeyRing(first)
      let numbers = try numbers(store, keys)
      for key in 0..<500 { try numbers.set(key, forKey: key) }
      let expiry = WallTime(millisecondsSince1970: store.time.millisecondsSince1970 + 1_000_000)
      try numbers.touch(7, expiry: .at(expiry))
      // A default does not apply: values that never expire go on so.
      try store.keyspace("numbers").setDefaultExpiry(.seconds(60))
      try store.storage("other", transformer: Transformer<Int>.littleEndian.sealed(with: keys)).set(1, forKey: "a")
      try keys.rotate(to: second)
      try numbers.set(-1, forKey: 3, expiry: .never)
      let version = try #require(try numbers.entry(forKey: 3)?.version)
      var shares: [Double] = []
      let result = try store.keyspace("numbers").reseal(with: keys) { share in
        shares.append(share)
        return true
      }
      #expect(result.resealed == 499 && result.overtaken == 0 && result.unreadable == 0 && result.isComplete)
      #expect(result.current == 500)
      #expect(shares.last == 1 && shares.count >= 2)
      #expect(try counts(store) == [2: 500])
      #expect(keyID(try store.keyspace("other").get("a")) == 1)
      try keys.remove(id: 1)
      for key in 0..<500 { #expect(try numbers.value(forKey: key) == (key == 3 ? -1 : key)) }
      #expect(try numbers.entry(forKey: 7)?.expiry == .at(expiry))
      #expect(try numbers.entry(forKey: 8)?.expiry == .never)
      // What has the current key was not written again.
      #expect(try numbers.entry(forKey: 3)?.version == version)
      let again = try store.keyspace("numbers").reseal(with: keys)
      #expect(again.resealed == 0 && again.current == 500 && again.isComplete)
      #expect(store.durableSequence == store.lastSequence)
    }
  }

  @Test func whatCannotBeOpenedIsToldAndStays() throws {
    try withStore { store in
      let keys = try KeyRing(first)
      let numbers = try numbers(store, keys)
      for key in 0..<50 { try numbers.set(key, forKey: key) }
      let raw = try store.keyspace("numbers")
      let moved = try #require(try raw.get(try Int.keyTransformer.encode(1)))
      try raw.put(moved, forKey: try Int.keyTransformer.encode(2))
      try raw.put("plain", forKey: try Int.keyTransformer.encode(3))
      try keys.rotate(to: second)
      let result = try raw.reseal(with: keys)
      #expect(result.resealed == 48 && result.unreadable == 2 && !result.isComplete)
      let failures = result.failures.map { ($0.key, $0.error as? SealingError) }
      #expect(failures.contains { $0.0 == (try? Int.keyTransformer.encode(2)) && $0.1 == .notAuthentic(keyID: 1) })
      #expect(failures.contains { $0.0 == (try? Int.keyTransformer.encode(3)) && $0.1 == .notSealed })
      #expect(try raw.get(try Int.keyTransformer.encode(2)) == moved)
    }
  }

  /// Ended at each entry, by `progress` or by a closed store, and made again.
  @Test func interruptedAtEachStepItGoesOn() throws {
    for steps in 1...40 {
      let directory = try TemporaryDirectory()
      let keys = try KeyRing(first)
      var store = try LogStore(at: directory.appending("store"))
      for key in 0..<30 { try numbers(store, keys).set(key, forKey: key) }
      try keys.rotate(to: second)
      var left = steps
      var wasStopped = false
      let keyspace = try store.keyspace("numbers")
      do throws(StoreError) {
        try keyspace.reseal(with: keys) { _ in
          left -= 1
          return left > 0
        }
      } catch {
        guard case .cancelled = error else { throw error }
        wasStopped = true
      }
      let mixed = try counts(store)
      #expect(mixed.values.reduce(0, +) == 30)
      for key in 0..<30 { #expect(try numbers(store, keys).value(forKey: key) == key) }
      if wasStopped, steps.isMultiple(of: 2) {
        try store.close()
        store = try LogStore(at: directory.appending("store"))
      }
      let result = try store.keyspace("numbers").reseal(with: keys)
      #expect(result.isComplete && result.resealed == mixed[1] ?? 0)
      #expect(try counts(store) == [2: 30])
      try store.close()
    }
  }

  @Test(.timeLimit(.minutes(60))) func writersAndReadersGoOnBesideIt() throws {
    try withStore { store in
      let keys = try KeyRing(first)
      let numbers = try numbers(store, keys)
      let front = HybridStorage(numbers, limits: MemoryLimits(count: 50))
      let count = 300
      for key in 0..<count { try numbers.set(0, forKey: key) }
      let rounds = 40
      let isOver = Atomic(false)
      let failures = Mutex<[String]>([])
      let added = Mutex<[Int]>(Array(repeating: 0, count: count))
      let group = DispatchGroup()
      for worker in 0..<3 {
        group.enter()
        Thread.detachNewThread {
          defer { group.leave() }
          var generator = SeededGenerator(seed: UInt64(worker))
          while !isOver.load(ordering: .relaxed) {
            let key = Int.random(in: 0..<count, using: &generator)
            do {
              // Each adds one atomically: a sealing anew that replaced a newer value would lose some.
              try numbers.update(forKey: key, default: 0) { $0 += 1 }
              added.withLock { $0[key] += 1 }
              _ = try front.value(forKey: key)
              usleep(50)
            } catch {
              failures.withLock { $0.append("\(error)") }
              return
            }
          }
        }
      }
      var resealed = 0
      for round in 0..<rounds {
        try keys.rotate(to: .random(id: UInt32(10 + round)))
        let result = try store.keyspace("numbers").reseal(with: keys)
        #expect(result.unreadable == 0)
        resealed += result.resealed
      }
      isOver.store(true, ordering: .relaxed)
      group.wait()
      #expect(failures.withLock { $0 } == [])
      #expect(resealed > count)
      #expect(try store.keyspace("numbers").reseal(with: keys).isComplete)
      #expect(try counts(store) == [UInt32(9 + rounds): count])
      for key in 0..<count {
        let sum = added.withLock { $0[key] }
        #expect(try numbers.value(forKey: key) == sum)
        #expect(try front.value(forKey: key) == sum)
      }
    }
  }

  /// A write between the look and the writing is not undone.
  @Test func newerValueIsNotReplaced() throws {
    try withStore { store in
      let keys = try KeyRing(first)
      let numbers = try numbers(store, keys)
      for key in 0..<20 { try numbers.set(key, forKey: key) }
      let old = try numbers.transform(to: .bytes)
      try keys.rotate(to: second)
      // Another process that knows only the first key writes while this one looks.
      let others = try self.numbers(store, try KeyRing(first))
      var isFirst = true
      let result = try store.keyspace("numbers").reseal(with: keys) { _ in
        if isFirst { for key in 0..<20 { try? others.set(100 + key, forKey: key) } }
        isFirst = false
        return true
      }
      #expect(result.isComplete && result.overtaken == 20)
      for key in 0..<20 { #expect(try numbers.value(forKey: key) == 100 + key) }
      #expect(keyID(try old.value(forKey: 0)) == 2)
    }
  }

  @Test func tasksWaitForIt() async throws {
    let directory = try TemporaryDirectory()
    let store = try LogStore(at: directory.appending("store"))
    let keys = try KeyRing(first)
    for key in 0..<100 { try numbers(store, keys).set(key, forKey: key) }
    try keys.rotate(to: second)
    let keyspace = try store.keyspace("numbers")
    let hasBegun = Atomic(false)
    let isCancelled = Atomic(false)
    let stopped = Task {
      try await keyspace.reseal(with: keys) { _ in
        hasBegun.store(true, ordering: .relaxed)
        while !isCancelled.load(ordering: .relaxed) { usleep(100) }
        return true
      }
    }
    #expect(try await eventually { hasBegun.load(ordering: .relaxed) })
    stopped.cancel()
    isCancelled.store(true, ordering: .relaxed)
    await #expect(throws: StoreError.self) { try await stopped.value }
    let result = try await keyspace.reseal(with: keys)
    #expect(result.isComplete)
    #expect(try counts(store) == [2: 100])
    try store.close()
  }
}
