import Esker
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
      try scores.set(9, forKey: "a")
      usleep(50_000)
      #expect(heard.count == expected.count)
    }
  }

  @Test func observationEndsWithItsLastReference() throws {
    try withTemporaryStore { store in
      let scores = try store.storage("scores", of: Int.self)
      let heard = Collected<Change>()
      var observation: Observation? = try scores.observe { heard.add($0) }
      try scores.set(1, forKey: "a")
      #expect(heard.reach(1))
      _ = observation
      observation = nil
      try scores.set(2, forKey: "a")
      usleep(50_000)
      #expect(heard.count == 1)
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
      for _ in 0..<5000 {
        if case .set("end", _, _) = heard.all.last { break }
        usleep(1000)
      }
      // Each change takes up where the one before it left off, and the last ones are what is stored.
      var state: [String: Int] = [:]
      for change in heard.all {
        switch change {
        case .set(let key, let before, let after):
          #expect(state[key] == before)
          state[key] = after
        case .removed(let key, let before):
          #expect(state[key] == before)
          state[key] = nil
        default: Issue.record("\(change)")
        }
      }
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
      for _ in 0..<5000 where told() < 20_000 { usleep(1000) }
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
      #expect(await iterator.next() == .set(key: "a", before: number == 0 ? nil : number - 1, after: number))
    }
    try scores.set(77, forKey: "b")
    #expect(await iterator.next() == .missed(6))
    #expect(await iterator.next() == .set(key: "b", before: nil, after: 77))
    var first = ofB.makeAsyncIterator()
    #expect(await first.next() == .set(key: "b", before: nil, after: 77))
    observation.cancel()
    try store.close()
  }
}
