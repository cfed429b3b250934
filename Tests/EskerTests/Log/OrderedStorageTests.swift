import Esker
import EskerTestSupport
import Foundation
import Testing

@Suite struct OrderedStorageTests {
  private struct Visit: Codable, Equatable {
    var page: String
  }

  private typealias Key = CompositeKey<String, Date>

  private static func day(_ number: Int) -> Date { Date(timeIntervalSinceReferenceDate: 86_400 * Double(number)) }

  @Test func visitsOfOnePlaceComeByDate() throws {
    try withTemporaryStore { store in
      let visits = try store.storage("visits", key: Key.self, of: Visit.self)
      for number in [3, -1, 7, 0, 5] {
        for place in ["vienna", "vie", "vienna\0", "graz"] {
          try visits.set(Visit(page: "\(place) \(number)"), forKey: CompositeKey(place, Self.day(number)))
        }
      }
      let all = try visits.entries(in: .prefix("vienna")).map(\.entry.value.page)
      #expect(all == [-1, 0, 3, 5, 7].map { "vienna \($0)" })
      let latest = try visits.keys(in: .prefix("vienna"), order: .descending, limit: 2)
      #expect(latest.map(\.parts.1) == [Self.day(7), Self.day(5)])
      let since = StorageRequest.Range<Key>.prefix("vienna").from(CompositeKey("vienna", Self.day(3)))
      #expect(try visits.count(in: since) == 3)
      #expect(try visits.first(in: since)?.entry.value.page == "vienna 3")
      #expect(try visits.last()?.entry.value.page == "vienna\0 7")
      #expect(try visits.removeAll(in: .prefix("vienna")) == 5)
      #expect(
        try visits.keys(in: .all).map(\.parts.0)
          == ["graz", "vie", "vienna\0"].flatMap { Array(repeating: $0, count: 5) }
      )
    }
  }

  @Test func keysHaveTheOrderOfTheirType() throws {
    func check<Key: OrderedStorageKey>(_ keys: [Key], _ store: LogStore) throws {
      let storage = try store.storage("\(Key.self)", key: Key.self, of: Int.self)
      for (number, key) in keys.enumerated().reversed() { try storage.set(number, forKey: key) }
      #expect(try storage.entries(in: .all).map(\.entry.value) == Array(keys.indices), "\(Key.self)")
      #expect(try storage.entries(in: .after(keys[1]).through(keys[2])).map(\.entry.value) == [2])
      #expect(try storage.entries(in: .from(keys[1]).upTo(keys[2])).map(\.entry.value) == [1])
    }
    try withTemporaryStore { store in
      try check([Int.min, -256, -1, 0, 1, 255, 256, .max], store)
      try check([Int8.min, -1, 0, 1, .max], store)
      try check([0 as UInt64, 1, 255, 256, .max], store)
      try check(["", "a", "a\0", "aa", "b", "é", "🦊"], store)
      try check(
        [-.infinity, -1e9, -0.5, 0, 0.5, 1e9, .infinity].map { Date(timeIntervalSinceReferenceDate: $0) },
        store
      )
      try check([[] as [UInt8], [0], [0, 0], [0, 1], [255]], store)
      try check([Data(), Data([0]), Data([0, 0]), Data([255])], store)
      let numbers = [(-1, "z"), (0, ""), (0, "a"), (0, "a\0"), (0, "b"), (1, "")]
      try check(numbers.map { CompositeKey($0.0, $0.1) }, store)
      let triples = [("a", -1, 0), ("a", 0, 0), ("a", 0, 9), ("a\0", -5, 0), ("b", 0, 0)]
      try check(triples.map { CompositeKey($0.0, $0.1, $0.2) }, store)
      let both = try store.storage(
        "\(CompositeKey<String, Int, Int>.self)",
        key: CompositeKey<String, Int, Int>.self,
        of: Int.self
      )
      #expect(try both.entries(in: .prefix("a", 0)).map(\.entry.value) == [1, 2])
    }
  }

  @Test func orderGoesThroughFrontsAndOperators() throws {
    try withTemporaryStore { store in
      let log = try LogStorage(store, "numbers", key: String.self, of: Int.self)
      for number in 0..<100 { try log.set(number, forKey: "\(100 + number)") }
      let front = try store.storage("numbers", key: String.self, of: Int.self, memory: MemoryLimits(count: 10))
      #expect(try front.entries(in: .prefix("15")).map(\.entry.value) == Array(50..<60))
      try front.set(-1, forKey: "155")
      #expect(try front.entries(in: .prefix("155")).map(\.entry.value) == [-1])
      let texts = log.mapValues {
        "\($0)"
      } from: {
        Int($0) ?? 0
      }
      #expect(try texts.entries(in: .from("198")).map(\.entry.value) == ["98", "99"])
      #expect(try log.readOnly().keys(in: .upTo("102")) == ["100", "101"])
      let erased = Storage(texts)
      #expect(try erased.last()?.entry.value == "99")
    }
  }

  @Test func tasksReadInOrderToo() async throws {
    let directory = try TemporaryDirectory()
    let store = try LogStore(at: directory.appending("store"))
    let numbers = try store.storage("numbers", key: Int.self, of: Int.self)
    for number in -5..<5 { try numbers.set(number, forKey: number) }
    #expect(try await numbers.async.keys(in: .from(3)) == [3, 4])
    #expect(try await numbers.async.entries(in: .upTo(0), order: .descending, limit: 2).map(\.entry.value) == [-1, -2])
    #expect(try await numbers.async.first()?.key == -5)
    #expect(try await numbers.async.last(in: .upTo(-2))?.key == -3)
    #expect(try await numbers.async.count(in: .from(0)) == 5)
    #expect(try await numbers.async.removeAll(in: .from(0)) == 5)
    #expect(try numbers.last()?.key == -1)
    try store.close()
  }

  @Test func whereThereIsNoOrderAnErrorSaysSo() throws {
    let memory = Storage(MemoryStorage<String, Int>())
    let error = failure(of: { try memory.first() })
    guard case .unsupported(let operation, _)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(operation == "read its keys in order")
    try withTemporaryStore { store in
      let log = try LogStorage(store, "numbers", key: Int.self, of: Int.self)
      try log.set(1, forKey: 1)
      let turned = log.mapKeys { (key: Int) in
        -key
      } back: {
        -$0
      }
      guard case .unsupported? = failure(of: { try turned.keys(in: .all) }) else {
        Issue.record("other keys pass for those behind")
        return
      }
    }
  }

  @Test func whatCannotBeReadIsGivenToTheCaller() throws {
    try withTemporaryStore { store in
      let texts = try LogStorage(store, "mixed", key: String.self, transformer: Transformer<String>.utf8)
      for number in 0..<10 { try texts.set(number == 4 ? "four" : "\(number)", forKey: "\(number)") }
      let numbers = texts.transform(to: Transformer<Int>.json)
      #expect(throws: StorageError.self) { try numbers.entries(in: .all) }
      var (seen, failures) = ([Int](), 0)
      try numbers.forEachEntry(in: .all, order: .descending, limit: .max) { _ in
        failures += 1
      } _: { (_, entry) throws(StorageError) in
        seen.append(entry.value)
      }
      #expect(seen == [9, 8, 7, 6, 5, 3, 2, 1, 0] && failures == 1)
      #expect(try numbers.keys(in: .all).count == 10)
    }
  }
}
