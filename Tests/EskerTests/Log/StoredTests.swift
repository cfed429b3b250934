import Esker
import Foundation
import Testing

@Suite struct StoredTests {
  private struct Settings {
    @Stored var launches: Int
    @Stored var title: String

    init(_ store: LogStore) {
      _launches = Stored(wrappedValue: 0, "launches", in: store)
      _title = Stored(wrappedValue: "none", "title", in: store)
    }
  }

  @Test func propertiesAreKeptAndHaveDefaults() throws {
    try withTemporaryStore { store in
      let settings = Settings(store)
      #expect(settings.launches == 0 && settings.title == "none")
      settings.launches += 1
      settings.title = "Esker"
      let again = Settings(store)
      #expect(again.launches == 1 && again.title == "Esker")
      #expect(try again.$launches.update { $0 += 5 } == 6)
      try again.$launches.reset()
      #expect(settings.launches == 0)
      #expect(settings.$launches.error == nil)
    }
  }

  @Test func propertyThatCannotBeReadHasItsDefaultAndTheError() throws {
    try withTemporaryStore { store in
      let settings = Settings(store)
      try store.keyspace("settings").put("x", forKey: "launches")
      #expect(settings.launches == 0)
      guard case .decoding(key: "launches", view: "settings", _, _)? = settings.$launches.error else {
        Issue.record("\(String(describing: settings.$launches.error))")
        return
      }
    }
  }

  @Test func propertyThatCannotBeReadIsNotOverwritten() throws {
    struct Profile: Codable, Equatable {
      var name: String
      var visits = 0
    }
    struct LaterProfile: Codable, Equatable {
      var name: String
      var visits = 0
      var email: String
    }
    try withTemporaryStore { store in
      let old = Stored(wrappedValue: Profile(name: ""), "profile", in: store)
      old.wrappedValue = Profile(name: "Ada", visits: 41)
      let new = Stored(wrappedValue: LaterProfile(name: "", email: ""), "profile", in: store)
      new.wrappedValue.visits += 1
      new.wrappedValue = LaterProfile(name: "Eve", email: "")
      guard case .decoding? = new.error,
        case .decoding = failure(of: { try new.save(LaterProfile(name: "", email: "")) }),
        case .decoding = failure(of: { try new.update { $0.visits += 1 } })
      else {
        Issue.record("\(String(describing: new.error))")
        return
      }
      #expect(old.wrappedValue == Profile(name: "Ada", visits: 41))
      try new.replace(LaterProfile(name: "Ada", visits: 42, email: "ada@example.org"))
      #expect(new.error == nil && new.wrappedValue.visits == 42)
      try old.reset()
      #expect(new.wrappedValue == LaterProfile(name: "", email: "") && new.error == nil)
    }
  }

  @Test func propertiesAreMadeWhereTheyAreDeclared() throws {
    try withTemporaryStore { store in
      @Stored("launches", in: store) var launches = 0
      launches += 1
      #expect(launches == 1 && $launches.error == nil)
      let sum = try $launches.update { $0 += 1 }
      #expect(sum == 2)
    }
  }

  @Test func propertyWhoseKeyspaceCannotBeOpenedSaysWhy() throws {
    try withTemporaryStore { store in
      try store.storage("settings", of: Int.self).set(7, forKey: "launches")
      @Stored("launches", in: store) var launches = 3
      func isForm(_ error: StorageError?) -> Bool {
        guard case .form(of: .values, keyspace: "settings", _, _)? = error else { return false }
        return true
      }
      #expect(isForm($launches.error))
      #expect(launches == 3)
      launches = 4
      #expect(launches == 3 && isForm($launches.error))
      let property = $launches
      let calls: [() throws -> Void] = [
        { _ = try property.load() }, { try property.save(4) }, { try property.replace(4) }, { try property.reset() },
        { try property.update { $0 += 1 } },
      ]
      for call in calls { #expect(isForm(failure(of: call))) }
      #expect(try store.storage("settings", of: Int.self).value(forKey: "launches") == 7)
    }
  }

  @Test func updatesMayThrowErrorsOfTheirOwn() async throws {
    struct Refused: Error {}
    try await withTemporaryStore { store in
      let property = Stored(wrappedValue: 1, "n", in: store)
      #expect(throws: Refused.self) {
        try property.update { value in
          value = 9
          throw Refused()
        }
      }
      #expect(try property.load() == 1)
      let motto = PartialStorage<Void, String>(try store.storage("mottos", of: String.self).singleKey("motto"))
      try motto.set("layer by layer")
      #expect(throws: Refused.self) {
        try motto.update { value in
          value = nil
          throw Refused()
        }
      }
      await #expect(throws: Refused.self) {
        try await motto.async.update { value in
          value = nil
          throw Refused()
        }
      }
      try await motto.async.update { $0?.append("!") }
      let entry = try #require(try await motto.async.entry())
      #expect(try entry.value == "layer by layer!" && entry.version == motto.entry()?.version)
    }
  }

  @Test func singleKeyIsAStorageWithoutKeys() throws {
    try withTemporaryStore { store in
      let motto = PartialStorage<Void, String>(try store.storage("settings", of: String.self).singleKey("motto"))
      #expect(try motto.value() == nil)
      try motto.set("layer by layer")
      #expect(try motto.value() == "layer by layer")
      try motto.update { $0?.append("!") }
      #expect(try motto.removeValue())
      #expect(try motto.entry() == nil)
    }
  }
}
