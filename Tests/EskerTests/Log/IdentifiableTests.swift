import Esker
import EskerTestSupport
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

private struct Hidden: Codable, Identifiable, Sendable { var id: Int }

struct Boxed<Content: Codable & Sendable>: Codable, Identifiable, Sendable {
  var id: Int
  var content: Content?
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
      #expect(try store.keyspaceNames.sorted() == ["EskerTests.Item", "EskerTests.User"])
    }
  }

  @Test func writesTakeTheirDurability() async throws {
    try await withTemporaryStore { store in
      try store.set(User(id: 1, name: "Anna"), durability: .synced)
      #expect(store.durableSequence == store.lastSequence)
      try store.removeValue(User.self, id: 1, durability: .synced)
      #expect(store.durableSequence == store.lastSequence)
      let users = try store.storage(of: User.self).async
      try await users.set(User(id: 2, name: "Bert"), forKey: 2, durability: .synced)
      #expect(try store.value(User.self, id: 2) == User(id: 2, name: "Bert"))
      let names = users.mapValues(to: String.self) {
        $0.name
      } from: {
        User(id: 3, name: $0)
      }
      try await names.set("Carl", forKey: 3, durability: .synced)
      #expect(store.durableSequence == store.lastSequence)
      try await names.removeValue(forKey: 3, durability: .synced)
      #expect(store.durableSequence == store.lastSequence)
    }
  }

  @Test func callsByTypeAndIdDoNotKeepTheStoreOpen() throws {
    let path = temporaryPath()
    defer { try? FileManager.default.removeItem(atPath: path) }
    var store: LogStore? = try LogStore(at: path)
    for _ in 0..<2 { try store?.set(User(id: 1, name: "Anna")) }
    store = nil
    let next = try LogStore(at: path)
    #expect(try next.value(User.self, id: 1) == User(id: 1, name: "Anna"))
    try next.close()
    let error = failure { try next.set(User(id: 2, name: "Bert")) }
    guard case .store(.closed) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func callsByTypeAndIdDoNotKeepAStoreOpenThatWasObserved() throws {
    let path = temporaryPath()
    defer { try? FileManager.default.removeItem(atPath: path) }
    do {
      let store = try LogStore(at: path)
      let users = try store.storage(of: User.self)
      try users.observe { _ in }.cancel()
      try store.set(User(id: 1, name: "Anna"))
    }
    // A thread that is just telling observers of the last change keeps the store until it has done so.
    #expect(eventually { (try? LogStore(at: path).close()) != nil })
  }

  @Test func callsByTypeAndIdGoOnOnceTheirKeyspaceIsRemoved() throws {
    try withTemporaryStore { store in
      for _ in 0..<2 {
        try store.set(User(id: 1, name: "Anna"))
        #expect(try store.value(User.self, id: 1)?.name == "Anna")
        #expect(try store.removeKeyspace("EskerTests.User"))
        #expect(try store.value(User.self, id: 1) == nil)
        #expect(try store.removeKeyspace("EskerTests.User"))
        #expect(try !store.removeValue(User.self, id: 1))
      }
      #expect(try store.keyspaceNames == ["EskerTests.User"])
    }
  }

  @Test func callsByTypeAndIdAreHeardByViewsAndFronts() throws {
    try withTemporaryStore { store in
      try store.set(User(id: 1, name: "Anna"))
      let hybrid = HybridStorage(try store.storage(of: User.self))
      #expect(try hybrid.value(forKey: 1)?.name == "Anna")
      let heard = Collected<StorageChange<Int, User>>()
      let observation = try hybrid.observe { heard.add($0) }
      try store.set(User(id: 1, name: "Berta"))
      #expect(try hybrid.value(forKey: 1)?.name == "Berta")
      #expect(heard.reach(1))
      observation.cancel()
    }
  }

  @Test func typeWithoutALastingNameIsRefused() throws {
    struct Draft: Codable, Identifiable, Sendable { var id: Int }
    struct Note: Codable, Identifiable, PinnedName, Sendable {
      static let storageName = "notes"
      var id: Int
    }
    try withTemporaryStore { store in
      for attempt in [
        { try store.set(Draft(id: 1)) }, { _ = try store.value(Draft.self, id: 1) },
        { try store.removeValue(Draft.self, id: 1) }, { _ = try store.storage(of: Draft.self) },
        { try store.set(Hidden(id: 1)) }, { _ = try store.storage(of: Boxed<Hidden>.self) },
      ] as [() throws -> Void] {
        guard case .unnamed = failure(of: attempt) else {
          Issue.record("it was taken")
          return
        }
      }
      #expect(try store.keyspaceNames.isEmpty)
      try store.set(Note(id: 1))
      #expect(try store.value(Note.self, id: 1) != nil)
    }
  }

  @Test func pinnedNameIsTheStoragesName() throws {
    try withTemporaryStore { store in
      try store.set(Renamed2026(id: "a"), expiry: .after(.seconds(86_400)))
      #expect(try store.storage("articles", of: Renamed2026.self).value(forKey: "a") == Renamed2026(id: "a"))
    }
  }
}
