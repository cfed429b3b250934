import Esker
import EskerTestSupport
import Foundation
import Testing

/// The one list of operations, each in every form: bytes, bytes for tasks, typed, typed for tasks. What is missing in a form does
/// not compile.
@Suite struct OperationListTests {
  static let operations = [
    "get", "several", "entry", "contains", "sliding get", "set", "set if absent", "compare and set", "remove",
    "remove if version", "touch", "persist", "update", "update with errors of its own", "increment", "append", "batch",
    "durability for one write", "remove expired", "remove all", "keys", "entries", "count",
  ]

  private struct Own: Error {}
  private let hour = Expiry.after(.seconds(3600))

  private func inAStore(_ body: (LogStore) async throws -> Void) async throws {
    try await withTemporaryStore { store in try await body(store) }
  }

  @Test(arguments: operations) func bytes(_ operation: String) async throws {
    try await inAStore { store in
      let space = try store.keyspace("list")
      try space.put("1", forKey: "a")
      switch operation {
      case "get": #expect(try space.get("a") == Array("1".utf8))
      case "several":
        #expect(try space.get(["a", "b"]).map { $0 != nil } == [true, false])
        var seen = 0
        #expect(throws: Own.self) {
          try space.withValues(forKeys: ["a", "b"]) { (_, _) throws in
            seen += 1
            throw Own()
          }
        }
        #expect(seen == 1)
      case "entry":
        #expect(try space.withEntry(forKey: "a") { (value: RawSpan, known) in known.length == value.byteCount } == true)
      case "contains": #expect(try space.contains("a") && !space.contains("b"))
      case "sliding get": #expect(try space.get("a", extendingBy: .seconds(60)) != nil)
      case "set":
        try space.put("2", forKey: "a", expiry: hour)
        #expect(try space.get("a") == Array("2".utf8) && space.metadata(forKey: "a")?.expiry != .never)
      case "set if absent": #expect(try space.putIfAbsent("2", forKey: "a") == nil)
      case "compare and set":
        let version = try #require(try space.metadata(forKey: "a")).version
        #expect(try space.compareAndSet("2", forKey: "a", ifVersion: version) != nil)
      case "remove": #expect(try space.remove("a") && !space.remove("a"))
      case "remove if version":
        let version = try #require(try space.metadata(forKey: "a")).version
        #expect(try space.remove("a", ifVersion: version))
      case "touch": #expect(try space.touch("a", expiry: hour) != nil)
      case "persist": #expect(try space.persist("a") != nil)
      case "update": #expect(try space.update(forKey: "a") { (_) throws(StoreError) in .put(Array("3".utf8)) } != nil)
      case "update with errors of its own":
        #expect(throws: Own.self) { try space.update(forKey: "a") { (_) throws in throw Own() } }
      case "increment": #expect(try space.increment("n", by: 5) == 5)
      case "append":
        try space.append("2", toKey: "a")
        #expect(try space.get("a") == Array("12".utf8))
      case "batch":
        try store.write { (batch) throws(StoreError) in try batch.put("2", forKey: "a", in: space) }
        #expect(try space.get("a") == Array("2".utf8))
      case "durability for one write":
        try space.put("2", forKey: "a", durability: .synced)
        #expect(store.durableSequence == store.lastSequence)
      case "remove expired": #expect(try space.removeExpired() == 0)
      case "remove all":
        try space.removeAll(durability: .synced)
        #expect(try space.get("a") == nil && store.durableSequence == store.lastSequence)
      case "keys":
        let keys = try store.snapshot().entries(in: space).map { entry in try entry.key() }
        #expect(keys == [Array("a".utf8)])
      case "entries":
        let values = try store.snapshot().entries(in: space).map { entry in try entry.value() }
        #expect(values == [Array("1".utf8)])
      case "count": #expect(try space.count() == 1)
      default: Issue.record("\(operation) is not tried")
      }
    }
  }

  /// Bytes are listed by a snapshot, which reads one entry after the other as it is asked for them.
  static let operationsThatWait =
    operations.filter { !["keys", "entries", "count"].contains($0) } + ["remove a keyspace"]

  @Test(arguments: operationsThatWait) func bytesForTasks(_ operation: String) async throws {
    try await inAStore { store in
      let space = try store.keyspace("list")
      try await space.async.put("1", forKey: "a")
      switch operation {
      case "get": #expect(try await space.async.get("a") == Array("1".utf8))
      case "several": #expect(try await space.async.get(["b", "a"]) == [nil, Array("1".utf8)])
      case "entry": #expect(try await space.async.metadata(forKey: "a")?.length == 1)
      case "contains":
        #expect(try await space.async.contains("a"))
        #expect(try await !space.async.contains("b"))
      case "sliding get": #expect(try await space.async.get("a", extendingBy: .seconds(60)) != nil)
      case "set":
        try await space.async.put("2", forKey: "a", expiry: hour)
        #expect(try space.get("a") == Array("2".utf8) && space.metadata(forKey: "a")?.expiry != .never)
      case "set if absent": #expect(try await space.async.putIfAbsent("2", forKey: "a") == nil)
      case "compare and set":
        let version = try #require(try space.metadata(forKey: "a")).version
        #expect(try await space.async.compareAndSet("2", forKey: "a", ifVersion: version) != nil)
      case "remove": #expect(try await space.async.remove("a"))
      case "remove if version":
        let version = try #require(try space.metadata(forKey: "a")).version
        #expect(try await space.async.remove("a", ifVersion: version))
      case "touch": #expect(try await space.async.touch("a", expiry: hour) != nil)
      case "persist": #expect(try await space.async.persist("a") != nil)
      case "update":
        #expect(
          try await space.async.update(forKey: "a") { (_) throws(StoreError) in .put(Array("3".utf8)) } != nil
        )
      case "update with errors of its own":
        await #expect(throws: Own.self) { try await space.async.update(forKey: "a") { (_) throws in throw Own() } }
      case "increment": #expect(try await space.async.increment("n", by: 5) == 5)
      case "append":
        try await space.async.append("2", toKey: "a")
        #expect(try space.get("a") == Array("12".utf8))
      case "batch":
        try await space.async.write { (batch) throws(StoreError) in try batch.put("2", forKey: "a", in: space) }
        #expect(try space.get("a") == Array("2".utf8))
      case "durability for one write":
        try await space.async.put("2", forKey: "a", durability: .synced)
        #expect(store.durableSequence == store.lastSequence)
      case "remove expired":
        try space.put("2", forKey: "b", expiry: .at(WallTime(millisecondsSince1970: 1)))
        try store.put("2", forKey: "b", expiry: .at(WallTime(millisecondsSince1970: 1)))
        #expect(try await space.async.removeExpired() == 1)
        #expect(try await store.async.removeAllExpired() == 1)
        #expect(try space.countExpired() == 0 && space.get("a") != nil)
      case "remove all":
        try await space.async.removeAll()
        #expect(try space.get("a") == nil)
      case "remove a keyspace":
        #expect(try await store.async.removeKeyspace("list", durability: .synced))
        #expect(store.durableSequence == store.lastSequence)
        #expect(try await !store.async.removeKeyspace("list"))
        #expect(throws: StoreError.keyspaceRemoved("list")) { try space.get("a") }
        await #expect(throws: StoreError.invalidKeyspace("")) { try await store.async.removeKeyspace("") }
      default: Issue.record("\(operation) is not tried")
      }
    }
  }

  @Test(arguments: operations) func typed(_ operation: String) async throws {
    try await inAStore { store in
      for storage in try all(store) {
        try storage.set(1, forKey: "a")
        let texts = try store.storage("texts", of: String.self)
        switch operation {
        case "get": #expect(try storage.value(forKey: "a") == 1)
        case "several": #expect(try storage.values(forKeys: ["b", "a"]) == [nil, 1])
        case "entry": #expect(try storage.entry(forKey: "a")?.version != nil)
        case "contains": #expect(try storage.contains("a") && !storage.contains("b"))
        case "sliding get": #expect(try storage.value(forKey: "a", extendingBy: .seconds(60)) == 1)
        case "set":
          try storage.set(2, forKey: "a", expiry: hour)
          #expect(try storage.entry(forKey: "a")?.value == 2 && storage.entry(forKey: "a")?.expiry != .never)
        case "set if absent":
          #expect(try !storage.setIfAbsent(2, forKey: "a") && storage.setIfAbsent(2, forKey: "b"))
        case "compare and set":
          let version = try storage.entry(forKey: "a")?.version
          let next = try #require(try storage.compareAndSet(2, forKey: "a", ifVersion: version))
          #expect(try storage.compareAndSet(3, forKey: "a", ifVersion: version) == nil)
          #expect(try storage.compareAndSet(3, forKey: "a", ifVersion: next) != nil)
          #expect(try storage.value(forKey: "a") == 3)
        case "remove": #expect(try storage.removeValue(forKey: "a") && !storage.removeValue(forKey: "a"))
        case "remove if version":
          let version = try #require(try storage.entry(forKey: "a")?.version)
          try storage.set(2, forKey: "a")
          #expect(try !storage.removeValue(forKey: "a", ifVersion: version) && storage.contains("a"))
        case "touch": #expect(try storage.touch("a", expiry: hour) && !storage.touch("b", expiry: hour))
        case "persist":
          try storage.set(1, forKey: "a", expiry: hour)
          #expect(try storage.persist("a") && storage.entry(forKey: "a")?.expiry == .never)
        case "update": #expect(try storage.update(forKey: "a", default: 0) { $0 += 1 } == 2)
        case "update with errors of its own":
          #expect(throws: Own.self) {
            try storage.update(forKey: "a") { (value: inout Int?) throws in
              value = 9
              throw Own()
            }
          }
          #expect(try storage.value(forKey: "a") == 1)
        case "increment": #expect(try storage.increment("a", by: 5) == 6)
        case "append":
          try texts.append("x", toKey: operation)
          #expect(try texts.value(forKey: operation)?.last == "x")
        case "batch":
          guard storage.name != "memory" else { break }
          try store.write { batch in
            try batch.set(7, forKey: "a", in: storage)
            try batch.set("seven", forKey: "a", in: texts)
            try batch.removeValue(forKey: "b", in: storage)
          }
          #expect(try storage.value(forKey: "a") == 7 && texts.value(forKey: "a") == "seven")
        case "durability for one write":
          try storage.set(2, forKey: "a", durability: .synced)
          #expect(try storage.value(forKey: "a") == 2)
          #expect(storage.name == "memory" || store.durableSequence == store.lastSequence)
        case "remove expired":
          try storage.set(2, forKey: "b", expiry: .at(WallTime(millisecondsSince1970: 1)))
          #expect(try storage.value(forKey: "b") == nil)
          try storage.removeExpired()
        case "remove all":
          try storage.removeAll(durability: .synced)
          #expect(try storage.count() == 0 && storage.keys() == [] && storage.entries().isEmpty)
          #expect(storage.name == "memory" || store.durableSequence == store.lastSequence)
        case "keys": #expect(try storage.keys() == ["a"] && storage.keys(skippingUnreadable: true) == ["a"])
        case "entries": #expect(try storage.entries().map { $0.entry.value } == [1] && storage.values() == [1])
        case "count": #expect(try storage.count() == 1)
        default: Issue.record("\(operation) is not tried")
        }
        try storage.removeAll()
      }
    }
  }

  @Test(arguments: operations) func typedForTasks(_ operation: String) async throws {
    try await inAStore { store in
      for storage in try all(store) {
        try await storage.async.set(1, forKey: "a")
        let texts = try store.storage("texts", of: String.self)
        switch operation {
        case "get": #expect(try await storage.async.value(forKey: "a") == 1)
        case "several": #expect(try await storage.async.values(forKeys: ["b", "a"]) == [nil, 1])
        case "entry": #expect(try await storage.async.entry(forKey: "a")?.version != nil)
        case "contains": #expect(try await storage.async.contains("a"))
        case "sliding get": #expect(try await storage.async.value(forKey: "a", extendingBy: .seconds(60)) == 1)
        case "set": try await storage.async.set(2, forKey: "a", expiry: hour)
        case "set if absent":
          #expect(try await !storage.async.setIfAbsent(2, forKey: "a"))
          #expect(try await storage.async.setIfAbsent(2, forKey: "b"))
        case "compare and set":
          let version = try await storage.async.entry(forKey: "a")?.version
          #expect(try await storage.async.compareAndSet(2, forKey: "a", ifVersion: version) != nil)
          #expect(try await storage.async.compareAndSet(3, forKey: "a", ifVersion: version) == nil)
        case "remove": #expect(try await storage.async.removeValue(forKey: "a"))
        case "remove if version":
          let version = try #require(try await storage.async.entry(forKey: "a")?.version)
          #expect(try await storage.async.removeValue(forKey: "a", ifVersion: version))
        case "touch": #expect(try await storage.async.touch("a", expiry: hour))
        case "persist": #expect(try await storage.async.persist("a"))
        case "update": #expect(try await storage.async.update(forKey: "a", default: 0) { $0 += 1 } == 2)
        case "update with errors of its own":
          await #expect(throws: Own.self) {
            try await storage.async.update(forKey: "a") { (_: inout Int?) throws in throw Own() }
          }
        case "increment": #expect(try await storage.async.increment("a", by: 5) == 6)
        case "append":
          try await texts.async.append("x", toKey: operation)
          #expect(try texts.value(forKey: operation)?.last == "x")
        // A batch of the engine's takes typed writes; it is logged at once and then waited for.
        case "batch":
          guard storage.name != "memory" else { break }
          try await store.async.write(durability: .synced) { batch in
            try batch.set(7, forKey: "a", in: storage)
            try batch.set("seven", forKey: "a", in: texts)
          }
          #expect(try await storage.async.value(forKey: "a") == 7 && texts.value(forKey: "a") == "seven")
          #expect(store.durableSequence == store.lastSequence)
          await #expect(throws: Own.self) {
            try await store.async.write { batch in
              try batch.removeValue(forKey: "a", in: storage)
              throw Own()
            }
          }
          #expect(try await storage.async.value(forKey: "a") == 7)
        case "durability for one write":
          try await storage.async.set(2, forKey: "a", durability: .synced)
          #expect(try storage.value(forKey: "a") == 2)
          #expect(storage.name == "memory" || store.durableSequence == store.lastSequence)
        case "remove expired": try await storage.async.removeExpired()
        case "remove all":
          try await storage.async.removeAll(durability: .synced)
          #expect(try await storage.async.count() == 0)
          #expect(try await storage.async.keys() == [])
          #expect(storage.name == "memory" || store.durableSequence == store.lastSequence)
        case "keys": #expect(try await storage.async.keys() == ["a"])
        case "entries":
          #expect(try await storage.async.entries().map { $0.entry.value } == [1])
          #expect(try await storage.async.values() == [1])
        case "count": #expect(try await storage.async.count() == 1)
        default: Issue.record("\(operation) is not tried")
        }
        try await storage.async.removeAll()
      }
    }
  }

  /// A log, memory, a front, and compositions of them.
  private func all(_ store: LogStore) throws -> [Storage<String, Int>] {
    let log = try store.storage("log", of: Int.self)
    let mapped = try LogStorage(store, "mapped", key: String.self, of: String.self).mapValues(to: Int.self) { text in
      guard let number = Int(text) else { throw Own() }
      return number
    } from: {
      "\($0)"
    }
    return [
      log, Storage(MemoryStorage()), try store.storage("front", of: Int.self, memory: MemoryLimits(count: 10)),
      Storage(mapped), Storage(HybridStorage(mapped)),
      Storage(log.renaming(to: "r").validate { $0 >= 0 }.tap { _ in }),
    ]
  }
}
