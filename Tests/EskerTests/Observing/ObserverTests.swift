import Esker
import EskerTestSupport
import Foundation
import Testing

@Suite struct ObserverTests {
  private typealias Change = StorageChange<String, Int>

  @Test func observerHearsChangesWithTheValuesBeforeAndAfter() throws {
    try withTemporaryStore { store in
      let scores = try store.storage("scores", of: Int.self)
      let heard = Collected<Change>()
      try scores.set(1, forKey: "a")
      let observation = try scores.observe { heard.add($0) }
      try scores.set(2, forKey: "a")
      try scores.set(5, forKey: "b")
      try scores.update(forKey: "a", default: 0) { $0 += 1 }
      try scores.removeValue(forKey: "a")
      try scores.removeValue(forKey: "a")
      try scores.update(forKey: "b") { $0 = nil }
      try scores.removeAll()
      try scores.set(1, forKey: "e", expiry: .at(Date(timeIntervalSince1970: 0)))
      try scores.removeExpired()
      let expected: [Change] = [
        .set(key: "a", before: 1, after: 2), .set(key: "b", before: nil, after: 5),
        .set(key: "a", before: 2, after: 3), .removed(key: "a", before: 3), .removed(key: "b", before: 5),
        .removedAll, .set(key: "e", before: nil, after: 1), .expired(key: "e", before: 1),
      ]
      #expect(heard.reach(expected.count))
      #expect(heard.all == expected)
      observation.cancel()
      let others = Collected<Change>()
      let other = try scores.observe { others.add($0) }
      try scores.set(9, forKey: "a")
      #expect(others.reach(1))
      #expect(heard.count == expected.count)
      other.cancel()
    }
  }

  @Test func observationEndsWithItsLastReference() throws {
    try withTemporaryStore { store in
      let scores = try store.storage("scores", of: Int.self)
      let heard = Collected<Change>()
      var observation: ObservationToken? = try scores.observe { heard.add($0) }
      try scores.set(1, forKey: "a")
      #expect(heard.reach(1))
      _ = observation
      observation = nil
      let others = Collected<Change>()
      let other = try scores.observe { others.add($0) }
      try scores.set(2, forKey: "a")
      #expect(others.reach(1))
      #expect(heard.count == 1)
      other.cancel()
    }
  }

  @Test func observerOfOneKeyHearsOnlyOfThatKey() throws {
    try withTemporaryStore { store in
      let scores = try store.storage("scores", of: Int.self)
      let heard = Collected<Change>()
      let observation = try scores.observe("b") { heard.add($0) }
      try scores.set(1, forKey: "a")
      try scores.set(2, forKey: "b")
      try scores.removeAll()
      #expect(heard.reach(2))
      #expect(heard.all == [.set(key: "b", before: nil, after: 2), .removedAll])
      observation.cancel()
    }
  }

  @Test func observerHearsWritesOfOtherViewsInItsOwnTypes() throws {
    try withTemporaryStore { store in
      let texts = try store.storage("values", of: String.self)
      let numbers = try store.storage("values", transformer: Transformer<Int>.json)
      let heard = Collected<Change>()
      let observation = try numbers.mapValues {
        $0 * 10
      } from: {
        $0 / 10
      }.observe { heard.add($0) }
      try texts.set("1", forKey: "a")
      try texts.set("x", forKey: "a")
      #expect(heard.reach(2))
      #expect(heard.all.first == .set(key: "a", before: nil, after: 10))
      guard case .unreadable(key: "a", .decoding(key: "a", _, _, _)) = heard.all.last else {
        Issue.record("\(heard.all)")
        return
      }
      observation.cancel()
    }
  }

  /// What the view cannot read does not hide what comes after it.
  @Test func changesApplyThoughTheValueBeforeCannotBeRead() throws {
    try withTemporaryStore { store in
      let numbers = try store.storage("values", transformer: Transformer<Int>.json)
      let positive = numbers.validate { $0 > 0 }
      let raw = try store.keyspace("values")
      let heard = Collected<Change>()
      let heardValid = Collected<Change>()
      let observations = [try numbers.observe { heard.add($0) }, try positive.observe { heardValid.add($0) }]
      try numbers.set(5, forKey: "a")
      try raw.put("x", forKey: "a")
      try numbers.set(6, forKey: "a")
      try raw.put("-1", forKey: "a")
      try numbers.set(7, forKey: "a")
      try raw.put("x", forKey: "b")
      try raw.remove("b")
      try raw.put("x", forKey: "e", expiry: .at(WallTime(millisecondsSince1970: 0)))
      try numbers.removeExpired()
      #expect(heard.reach(9) && heardValid.reach(9))
      var expected: [Change?] = [
        .set(key: "a", before: nil, after: 5), nil, .set(key: "a", before: nil, after: 6),
        .set(key: "a", before: 6, after: -1), .set(key: "a", before: -1, after: 7), nil,
        .removed(key: "b", before: nil), nil, .expired(key: "e", before: nil),
      ]
      func check(_ changes: [Change]) {
        #expect(changes.count == expected.count)
        for (change, expected) in Swift.zip(changes, expected) {
          if let expected {
            #expect(change == expected)
          } else if case .unreadable(.some, _) = change {
          } else {
            Issue.record("\(change) is told")
          }
        }
      }
      check(heard.all)
      expected[3] = nil
      expected[4] = .set(key: "a", before: nil, after: 7)
      check(heardValid.all)
      for observation in observations { observation.cancel() }
    }
  }

  @Test func observerMayCallTheStorageAndTakeItsTime() throws {
    try withTemporaryStore { store in
      let scores = try store.storage("scores", of: Int.self)
      let heard = Collected<Change>()
      let gate = DispatchSemaphore(value: 0)
      let observation = try scores.observe { change in
        gate.wait()
        heard.add(change)
        if case .set("a", _, let value) = change, value < 5 {
          try? scores.set(value + 1, forKey: "a")
          _ = try? scores.observe { _ in }
        }
      }
      // The observer stands still, and writers do not.
      try scores.set(0, forKey: "a")
      for number in 0..<100 { try scores.set(number, forKey: "b") }
      for _ in 0..<200 { gate.signal() }
      #expect(heard.reach(106))
      #expect(try scores.value(forKey: "a") == 5)
      observation.cancel()
    }
  }

  @Test func changesOfAKeyAreToldInTheOrderOfTheWrites() throws {
    try withTemporaryStore { store in
      let scores = try store.storage("scores", of: Int.self)
      let heard = Collected<Change>()
      let observation = try scores.observe { heard.add($0) }
      onThreads(6) { thread in
        for number in 0..<200 {
          switch number % 4 {
          case 0: _ = try? scores.update(forKey: "a", default: 0) { $0 += 1 }
          case 1: try? scores.set(thread * 1000 + number, forKey: "b")
          case 2: try? scores.set(thread * 1000 + number, forKey: "a")
          default: _ = try? scores.removeValue(forKey: "b")
          }
        }
      }
      try scores.set(-1, forKey: "end")
      #expect(eventually { if case .set("end", _, _) = heard.all.last { true } else { false } })
      // Each change takes up where the one before it left off, and the last ones are what is stored.
      let state = replayed(heard.all)
      #expect(state["end"] == -1)
      #expect(try state["a"] == scores.value(forKey: "a"))
      #expect(try state["b"] == scores.value(forKey: "b"))
      observation.cancel()
    }
  }

  @Test func whatIsMissedIsCounted() throws {
    try withTemporaryStore { store in
      let scores = try store.storage("scores", of: Int.self)
      let heard = Collected<Change>()
      let gate = DispatchSemaphore(value: 0)
      let observation = try scores.observe { change in
        if heard.count == 0 { gate.wait() }
        heard.add(change)
      }
      for number in 0..<20_000 { try scores.set(number, forKey: "a") }
      gate.signal()
      func told() -> Int {
        heard.all.reduce(0) { sum, change in if case .missed(let count) = change { sum + count } else { sum + 1 } }
      }
      #expect(eventually { told() >= 20_000 })
      #expect(told() == 20_000)
      #expect(heard.all.contains { if case .missed = $0 { true } else { false } })
      observation.cancel()
    }
  }

  @Test func streamTellsChangesAndWhatItHadNoRoomFor() async throws {
    let store = try LogStore(at: temporaryPath())
    let scores = try store.storage("scores", of: Int.self)
    let barrier = Collected<Change>()
    let observation = try scores.observe { barrier.add($0) }
    let stream = try scores.changes(buffer: 4)
    let ofB = try scores.changes(forKey: "b")
    for number in 0..<10 { try scores.set(number, forKey: "a") }
    #expect(barrier.reach(10))
    var iterator = stream.makeAsyncIterator()
    for number in 0..<4 {
      #expect(try await iterator.next() == .set(key: "a", before: number == 0 ? nil : number - 1, after: number))
    }
    try scores.set(77, forKey: "b")
    #expect(try await iterator.next() == .missed(6))
    #expect(try await iterator.next() == .set(key: "b", before: nil, after: 77))
    var first = ofB.makeAsyncIterator()
    #expect(try await first.next() == .set(key: "b", before: nil, after: 77))
    observation.cancel()
    try store.close()
  }

  @Test func writesPastTheViewsAreHeard() throws {
    try withTemporaryStore { store in
      let texts = try store.storage("texts", of: String.self)
      let keyspace = try store.keyspace("texts")
      let heard = Collected<StorageChange<String, String>>()
      let observation = try texts.observe { heard.add($0) }
      try keyspace.put("1", forKey: "a")
      try keyspace.append("2", toKey: "a")
      try keyspace.touch("a", expiry: .after(.seconds(1000)))
      try store.write { (batch) throws(StoreError) in
        try batch.put("3", forKey: "a", in: keyspace)
        try batch.put("4", forKey: "b", in: keyspace)
        try batch.remove("a", in: keyspace)
      }
      try keyspace.putIfAbsent("5", forKey: "b")
      try keyspace.put([0xFF], forKey: "b")
      try keyspace.put("6", forKey: [0xFF])
      try keyspace.removeAll()
      #expect(heard.reach(9))
      let expected: [StorageChange<String, String>] = [
        .set(key: "a", before: nil, after: "1"), .set(key: "a", before: "1", after: "12"),
        .set(key: "a", before: "12", after: "12"), .set(key: "a", before: "12", after: "3"),
        .set(key: "b", before: nil, after: "4"), .removed(key: "a", before: "3"),
      ]
      #expect(Array(heard.all.prefix(6)) == expected)
      #expect(heard.all.last == .removedAll)
      let unreadable = Array(heard.all.dropFirst(6).prefix(2))
      guard unreadable.count == 2, case .unreadable(key: "b", .decoding) = unreadable[0],
        case .unreadable(key: nil, .key) = unreadable[1]
      else {
        Issue.record("\(heard.all)")
        return
      }
      observation.cancel()
    }
  }

  @Test func writesOfAFrontAreHeardOnce() throws {
    for policy in [true, false] {
      try withTemporaryStore { store in
        let front = HybridStorage(
          try LogStorage(store, "scores", key: String.self, of: Int.self),
          limits: MemoryLimits(count: 10),
          keepsWrites: policy
        )
        let heard = Collected<Change>()
        let observation = try store.storage("scores", of: Int.self).observe { heard.add($0) }
        try front.set(1, forKey: "a")
        try front.update(forKey: "a", default: 0) { $0 += 1 }
        try front.removeValue(forKey: "a")
        try front.removeAll()
        let expected: [Change] = [
          .set(key: "a", before: nil, after: 1), .set(key: "a", before: 1, after: 2), .removed(key: "a", before: 2),
          .removedAll,
        ]
        #expect(heard.reach(expected.count))
        #expect(heard.all == expected)
        observation.cancel()
      }
    }
  }

  @Test func evictedValuesAreTold() throws {
    var options = Options()
    options.capacity = 1 << 20
    let path = temporaryPath()
    defer { try? FileManager.default.removeItem(atPath: path) }
    let store = try LogStore(at: path, options: options)
    let pages = try store.storage("pages", of: Data.self)
    let evicted = Collected<String>()
    let others = Collected<StorageChange<String, Data>>()
    let observation = try pages.observe { change in
      switch change {
      case .set: break
      case .evicted(let key, let before): if before == Data(repeating: 7, count: 900) { evicted.add(key) }
      default: others.add(change)
      }
    }
    for number in 0..<3000 { try pages.set(Data(repeating: 7, count: 900), forKey: "\(number)") }
    // The background may still be at it.
    let areSettled = try eventually { try evicted.count + pages.count() == 3000 }
    #expect(areSettled)
    let count = try pages.count()
    #expect(count < 1500)
    #expect(Set(evicted.all).count == 3000 - count && evicted.count == 3000 - count && others.count == 0)
    observation.cancel()
    try store.close()
  }

  @Test func storeOpenForReadingOnlyCannotBeObserved() throws {
    let path = temporaryPath()
    defer { try? FileManager.default.removeItem(atPath: path) }
    let store = try LogStore(at: path)
    try store.storage("scores", of: Int.self).set(1, forKey: "a")
    var options = Options()
    options.readOnly = true
    let reader = try LogStore(at: path, options: options)
    let scores = try reader.storage("scores", of: Int.self)
    guard case .unsupported = failure(of: { try scores.observe { _ in } }) else {
      Issue.record("it can be observed")
      return
    }
    try reader.close()
    try store.close()
  }

  /// Threads write through views of two types, past them, and in batches: what is heard is what is there.
  @Test func whatIsHeardOfManyWritersIsWhatIsThere() throws {
    var seeds = SeededGenerator(announcedFor: "whatIsHeardOfManyWritersIsWhatIsThere")
    for _ in 0..<4 {
      try withTemporaryStore { store in
        let texts = try store.storage("values", of: String.self)
        let numbers = try store.storage("values", transformer: Transformer<Int>.json)
        let front = HybridStorage(try LogStorage(store, "values", key: String.self, of: String.self))
        let keyspace = try store.keyspace("values")
        let heard = Collected<StorageChange<String, Int>>()
        let generators = (0..<4).map { _ in seeds.split() }
        let observation = try numbers.observe { heard.add($0) }
        onThreads(4) { thread in
          var random = generators[thread]
          for _ in 0..<300 {
            let key = "key \(Int.random(in: 0..<12, using: &random))"
            let value = "\(Int.random(in: 1..<1000, using: &random))"
            switch Int.random(in: 0..<16, using: &random) {
            case 0..<3: try? texts.set(value, forKey: key)
            case 3..<5: try? front.set(value, forKey: key)
            case 5..<8: _ = try? numbers.update(forKey: key, default: 0) { $0 += 1 }
            case 8..<10: _ = try? keyspace.put(value, forKey: key)
            case 10..<12: _ = try? keyspace.remove(key)
            case 12: _ = try? front.removeValue(forKey: key)
            case 13..<15:
              try? store.write { (batch) throws(StoreError) in
                try batch.put(value, forKey: key, in: keyspace)
                try batch.remove("key 0", in: keyspace)
                try batch.put(value, forKey: "key 1", in: keyspace)
              }
            default: if random.oneIn(10) { try? texts.removeAll() }
            }
          }
        }
        try numbers.set(0, forKey: "end")
        #expect(eventually { if case .set("end", _, _) = heard.all.last { true } else { false } })
        var contents: [String: Int] = [:]
        try numbers.forEachEntry { key, entry in contents[key] = entry.value }
        #expect(replayed(heard.all) == contents)
        observation.cancel()
      }
    }
  }
}
