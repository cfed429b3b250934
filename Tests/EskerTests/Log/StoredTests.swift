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
      guard case .decoding(key: "()", _, _, _)? = settings.$launches.error else {
        if case .decoding? = settings.$launches.error { return }
        Issue.record("\(String(describing: settings.$launches.error))")
        return
      }
    }
  }

  @Test func singleKeyIsAStorageWithoutKeys() throws {
    try withTemporaryStore { store in
      let motto = Storage<Void, String>(try store.storage("settings", of: String.self).singleKey("motto"))
      #expect(try motto.value() == nil)
      try motto.set("layer by layer")
      #expect(try motto.value() == "layer by layer")
      try motto.update { $0?.append("!") }
      #expect(try motto.removeValue())
      #expect(try motto.entry() == nil)
    }
  }
}
