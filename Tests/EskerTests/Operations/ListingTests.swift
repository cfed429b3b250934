import Esker
import EskerTestSupport
import Testing

@Suite struct ListingTests {
  private enum Planet: String, StorageKey, Codable, CaseIterable {
    case earth, mars
  }

  /// Keys of an earlier version of the program, say.
  @Test func keysThatCannotBeReadAreLeftOutWhereAskedFor() async throws {
    try await withTemporaryStore { store in
      let names = try LogStorage(store, "planets", key: String.self, of: Int.self)
      for (number, name) in ["earth", "mars", "pluto"].enumerated() { try names.set(number, forKey: name) }
      let planets = names.mapKeys(to: Planet.self) { planet in
        planet.rawValue
      } back: { name in
        guard let planet = Planet(rawValue: name) else { throw TransformerError.malformed("no planet") }
        return planet
      }
      #expect(throws: StorageError.self) { try planets.keys() }
      #expect(try Set(planets.keys(skippingUnreadable: true)) == [.earth, .mars])
      await #expect(throws: StorageError.self) { try await planets.async.keys() }
      #expect(try await Set(planets.async.keys(skippingUnreadable: true)) == [.earth, .mars])
      var failures: [StorageError] = []
      var seen = 0
      try planets.forEachKey {
        failures.append($0)
      } _: { (_) throws(StorageError) in
        seen += 1
      }
      #expect(failures.count == 1 && seen == 2)
    }
  }

  @Test func bytesThatAreNoKeyAreLeftOutWhereAskedFor() throws {
    try withTemporaryStore { store in
      let space = try store.keyspace("numbers")
      let numbers = try LogStorage(store, "numbers", key: Int.self, of: Int.self)
      try numbers.set(1, forKey: 1)
      try space.put("?", forKey: "not eight bytes")
      #expect(throws: StorageError.self) { try numbers.keys() }
      #expect(try numbers.keys(skippingUnreadable: true) == [1])
      #expect(try Storage(HybridStorage(numbers)).keys(skippingUnreadable: true) == [1])
    }
  }

  @Test func noKeysOfAClosedStoreAreAnErrorToo() async throws {
    try await withTemporaryStore { store in
      let log = try LogStorage(store, "n", key: String.self, of: Int.self)
      let front = HybridStorage(log)
      try store.close()
      for storage in [Storage(log), Storage(front)] {
        #expect(throws: StorageError.self) { try storage.values(forKeys: []) }
        await #expect(throws: StorageError.self) { try await storage.async.values(forKeys: []) }
      }
    }
  }
}
