import Esker
import Foundation
import Testing

@Suite struct StoredTests {
  private struct Settings {
    @Stored var launches: Int
    @Stored var title: String

    init(_ store: LogStore) throws {
      _launches = try Stored(wrappedValue: 0, "launches", in: store)
      _title = try Stored(wrappedValue: "none", "title", in: store)
    }
  }

  @Test func propertiesAreKeptAndHaveDefaults() throws {
    try withTemporaryStore { store in
      let settings = try Settings(store)
      #expect(settings.launches == 0 && settings.title == "none")
      settings.launches += 1
      settings.title = "Esker"
      let again = try Settings(store)
      #expect(again.launches == 1 && again.title == "Esker")
      #expect(try again.$launches.update { $0 += 5 } == 6)
      try again.$launches.reset()
      #expect(settings.launches == 0)
      #expect(settings.$launches.error == nil)
    }
  }

  @Test func propertyThatCannotBeReadHasItsDefaultAndTheError() throws {
    try withTemporaryStore { store in
      let settings = try Settings(store)
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
      let old = try Stored(wrappedValue: Profile(name: ""), "profile", in: store)
      old.wrappedValue = Profile(name: "Ada", visits: 41)
      let new = try Stored(wrappedValue: LaterProfile(name: "", email: ""), "profile", in: store)
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
