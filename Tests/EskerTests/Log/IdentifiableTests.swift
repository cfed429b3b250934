import Esker
import Foundation
import Testing

struct Item: Codable, Identifiable, Equatable, Sendable {
  var id: Int
  var price: Int
}

struct Renamed2026: Codable, Identifiable, PinnedName, Equatable, Sendable {
  static let storageName = "articles"
  var id: String
}

@Suite struct IdentifiableTests {
  @Test func equalIdsOfTwoTypesDoNotMeet() throws {
    try withTemporaryStore { store in
      try store.set(User(id: 1, name: "Anna"))
      try store.set(Item(id: 1, price: 5))
      #expect(try store.value(User.self, id: 1) == User(id: 1, name: "Anna"))
      #expect(try store.value(Item.self, id: 1) == Item(id: 1, price: 5))
      #expect(try store.removeValue(User.self, id: 1))
      #expect(try store.value(User.self, id: 1) == nil)
      #expect(try store.value(Item.self, id: 1) != nil)
      #expect(try store.storage(of: Item.self).keys() == [1])
      #expect(store.keyspaceNames.sorted() == ["EskerTests.Item#int64", "EskerTests.User#int64"])
    }
  }

  @Test func pinnedNameIsTheStoragesName() throws {
    try withTemporaryStore { store in
      try store.set(Renamed2026(id: "a"), expiry: .after(.seconds(86_400)))
      #expect(try store.storage("articles", of: Renamed2026.self).value(forKey: "a") == Renamed2026(id: "a"))
    }
  }
}
