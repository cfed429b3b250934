import Esker
import EskerTestSupport
import Foundation
import Synchronization
import Testing

/// Forms that are told the entry whose bytes they make: every call of a storage says the right one.
@Suite struct BoundFormTests {
  /// Puts keyspace and key before a value, and refuses those of another entry.
  private static let labelled = ByteTransformer.bound(id: "labelled") { bytes, key, keyspace, body in
    (label(key, keyspace) + bytes.copied()).withBytes { body($0) }
  } decode: { bytes, key, keyspace, body in
    let label = label(key, keyspace)
    guard bytes.copied().starts(with: label) else { throw Misplaced() }
    try body(bytes.extracting(droppingFirst: label.count))
  }

  private struct Misplaced: Error {}

  private static func label(_ key: RawSpan, _ keyspace: String) -> [UInt8] {
    Array("\(keyspace)/".utf8) + key.copied() + [0]
  }

  private let form = Transformer<String>.utf8.then(labelled)

  @Test func everyCallSaysTheEntry() throws {
    try withTemporaryStore { store in
      let names = try store.storage("names", transformer: form)
      let raw = try store.keyspace("names")
      try names.set("anna", forKey: "a", expiry: .after(.seconds(1000)))
      #expect(try raw.get("a") == Array("names/a\0anna".utf8))
      #expect(try names.value(forKey: "a") == "anna")
      #expect(try names.entry(forKey: "a")?.value == "anna")
      _ = try names.setIfAbsent("bert", forKey: "b")
      try store.write { batch in try batch.set("carl", forKey: "c", in: names) }
      try store.transaction { transaction in
        #expect(try transaction.value(forKey: "c", in: names) == "carl")
        try transaction.set("dora", forKey: "d", in: names)
        #expect(try transaction.value(forKey: "d", in: names) == "dora")
      }
      try names.update(forKey: "e", default: "") { $0 += "emma" }
      #expect(try names.entries(in: .all).map(\.entry.value) == ["anna", "bert", "carl", "dora", "emma"])
      #expect(try names.values().sorted() == ["anna", "bert", "carl", "dora", "emma"])
      #expect(try names.check().isClean)
      #expect(names.name == "names" && raw.valueForm == "utf8+labelled")
      // Of the default keyspace the name is empty.
      let unnamed = try store.storage(keyspace: "", keys: String.keyTransformer, values: form)
      try unnamed.set("x", forKey: "a")
      #expect(try store.get("a") == Array("/a\0x".utf8))
    }
  }

  @Test func frontsAndObserversSayTheEntry() throws {
    try withTemporaryStore { store in
      let names = try store.storage("names", transformer: form, memory: MemoryLimits(count: 10))
      let heard = Mutex<[StorageChange<String, String>]>([])
      let token = try names.observe { change in heard.withLock { $0.append(change) } }
      try names.set("anna", forKey: "a")
      try store.storage("names", transformer: form).set("bert", forKey: "a")
      #expect(try names.value(forKey: "a") == "bert")
      try names.removeValue(forKey: "a")
      #expect(eventually { heard.withLock { $0.count } == 3 })
      let expected: [StorageChange<String, String>] = [
        .set(key: "a", before: nil, after: "anna"), .set(key: "a", before: "anna", after: "bert"),
        .removed(key: "a", before: "bert"),
      ]
      #expect(heard.withLock { $0 } == expected)
      token.cancel()
    }
  }

  @Test func misplacedValueIsRefused() throws {
    try withTemporaryStore { store in
      let names = try store.storage("names", transformer: form)
      try names.set("anna", forKey: "a")
      try store.keyspace("names").put(try #require(try store.keyspace("names").get("a")), forKey: "b")
      do {
        _ = try names.value(forKey: "b")
        Issue.record("it was read")
      } catch StorageError.decoding(let key, let view, let expected, let underlying) {
        #expect(key == "b" && view == "names" && expected == "String (utf8+labelled)" && underlying is Misplaced)
      }
    }
  }

  @Test func stepsBehindItAndOthersWork() throws {
    try withTemporaryStore { store in
      let wrapped = form.then(.checksum).then(Self.labelled).map(
        id: "upper",
        to: { $0.uppercased() },
        from: { $0.lowercased() }
      )
      let names = try store.storage("names", transformer: wrapped)
      try names.set("ANNA", forKey: "a")
      #expect(try names.value(forKey: "a") == "ANNA")
      #expect(try #require(try store.keyspace("names").get("a")).starts(with: Array("names/a\0names/a\0anna".utf8)))
    }
  }

  @Test func withoutAnEntryItIsRefused() throws {
    #expect(throws: (any Error).self) { try form.encode("anna") }
    #expect(throws: (any Error).self) { try form.decode([1, 2, 3]) }
    do { _ = try form.encode("anna") } catch { #expect("\(error)".contains("utf8+labelled binds a value to its key")) }
    try withTemporaryStore { store in
      let lists = try store.storage("lists", transformer: Transformer<[String]>.array(form))
      #expect(throws: StorageError.self) { try lists.set(["anna"], forKey: "a") }
      #expect(try lists.value(forKey: "a") == nil)
    }
  }

  /// What fails in a step before it or in itself fails the write.
  @Test func failureToEncodeChangesNothing() throws {
    let failing = ByteTransformer.bound(id: "failing") { _, _, _, _ in
      throw Misplaced()
    } decode: { _, _, _, _ in
    }
    try withTemporaryStore { store in
      for form in [
        Transformer<String>.utf8.then(failing), form.then(failing),
        Transformer<String>.utf8.then(failing).then(Self.labelled),
      ] {
        let names = try store.storage("names", transformer: form)
        #expect(throws: StorageError.self) { try names.set("anna", forKey: "a") }
        #expect(throws: StorageError.self) {
          try store.write { batch in try batch.set("anna", forKey: "a", in: names) }
        }
        #expect(try store.keyspace("names").get("a") == nil)
      }
      // One that gives nothing is no value.
      try store.keyspace("names").put("x", forKey: "b")
      #expect(throws: StorageError.self) {
        try store.storage("names", transformer: Transformer<String>.utf8.then(failing)).value(forKey: "b")
      }
    }
  }
}
