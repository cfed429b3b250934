import Esker
import Foundation
import Testing

struct User: Codable, Identifiable, Equatable, Sendable {
  var id: Int
  var name: String
}

@Suite struct LogStorageTests {
  @Test func valuesComeBackWithExpiryVersionAndOrigin() throws {
    try withTemporaryStore { store in
      let users = try store.storage("users", of: User.self)
      let anna = User(id: 1, name: "Anna")
      let began = ContinuousClock.now
      try users.set(anna, forKey: "anna", expiry: .after(.seconds(86_400)))
      let entry = try #require(try users.entry(forKey: "anna"))
      #expect(entry.value == anna)
      #expect(entry.origin == .log)
      #expect(entry.version == store.lastSequence)
      #expect(!entry.isExpired() && entry.isExpired(at: Date(timeIntervalSinceNow: 86_401)))
      let remaining = try #require(entry.remaining())
      #expect(remaining > .seconds(86_399) - (ContinuousClock.now - began) && remaining <= .seconds(86_401))
      #expect(try users.value(forKey: "anna") == anna)
      #expect(try users.value(forKey: "bert") == nil)
      #expect(try users.contains("anna") && !users.contains("bert"))
    }
  }

  @Test func anUpdateThatChangesNothingWritesNothing() throws {
    try withTemporaryStore { store in
      let users = try store.storage("users", of: User.self)
      try users.set(User(id: 1, name: "Anna"), forKey: "anna")
      let last = store.lastSequence
      try users.update(forKey: "anna") { $0?.name = "Anna" }
      #expect(store.lastSequence == last)
      #expect(try users.entry(forKey: "anna")?.version == last)
      try users.update(forKey: "anna", expiry: .after(.seconds(60))) { $0?.name = "Anna" }
      #expect(store.lastSequence > last)
      try users.update(forKey: "anna") { $0?.name = "Bert" }
      #expect(try users.value(forKey: "anna")?.name == "Bert")
    }
  }

  @Test func theCountIsThatOfTheKeys() throws {
    try withTemporaryStore { store in
      let users = try store.storage("users", of: Int.self)
      try users.set(1, forKey: "stays")
      try users.set(2, forKey: "gone", expiry: .at(Date(timeIntervalSince1970: 1)))
      #expect(try users.count() == users.keys().count)
      try store.close()
      #expect(throws: StorageError.self) { try users.count() }
    }
  }

  @Test func whatCannotBeDecodedIsPassedOverWhereThatIsAskedFor() async throws {
    try await withTemporaryStore { store in
      let users = try store.storage("users", of: User.self)
      let anna = User(id: 1, name: "Anna")
      try users.set(anna, forKey: "anna")
      try store.keyspace("users").put("x", forKey: "bert")
      let whole = [{ _ = try users.values() }, { _ = try users.entries() }]
      for body in whole {
        guard case .decoding(key: "bert", view: "users", _, _) = failure(of: body) else {
          Issue.record("a list that lacks something was returned")
          return
        }
      }
      #expect(try users.values(skippingUnreadable: true) == [anna])
      #expect(try users.entries(skippingUnreadable: true).map(\.key) == ["anna"])
      #expect(try await users.async.values(skippingUnreadable: true) == [anna])
      #expect(try await users.async.entries(skippingUnreadable: true).map(\.key) == ["anna"])
      // Keys are listed without their values.
      #expect(try Set(users.keys()) == ["anna", "bert"] && users.count() == 2)
    }
  }

  /// The default keyspace has no name, and an error must not begin with nothing.
  @Test func errorsNameTheDefaultKeyspace() throws {
    try withTemporaryStore { store in
      let numbers = try store.storage("", of: Int.self)
      #expect(numbers.name == "(default)")
      try store.put("x", forKey: "a")
      let unreadable = failure { try numbers.value(forKey: "a") }
      #expect(unreadable?.description.hasPrefix("(default): ") == true)
      let form = failure { try store.storage("", of: String.self) }
      #expect(form?.description.hasPrefix("(default): its values") == true)
      #expect(form?.errorDescription == "What is saved in “(default)” could not be opened.")
    }
  }

  @Test func removedValueIsGone() throws {
    try withTemporaryStore { store in
      let scores = try store.storage("scores", of: Int.self)
      try scores.set(1, forKey: "a")
      #expect(try scores.removeValue(forKey: "a"))
      #expect(try !scores.removeValue(forKey: "a"))
      #expect(try scores.value(forKey: "a") == nil)
    }
  }

  @Test func expiriesAtTheEndsOfTimeAreKept() throws {
    try withTemporaryStore { store in
      let scores = try store.storage("scores", of: Int.self)
      try scores.set(1, forKey: "past", expiry: .at(Date(timeIntervalSince1970: 0)))
      try scores.set(2, forKey: "first", expiry: .at(Date.distantPast))
      try scores.set(3, forKey: "century", expiry: .at(Date(timeIntervalSinceNow: 3_155_760_000)))
      try scores.set(4, forKey: "last", expiry: .at(Date(timeIntervalSince1970: .greatestFiniteMagnitude)))
      try scores.set(5, forKey: "nan", expiry: .at(Date(timeIntervalSince1970: .nan)))
      #expect(try scores.value(forKey: "past") == nil)
      #expect(try scores.value(forKey: "first") == nil)
      #expect(try scores.value(forKey: "century") == 3)
      #expect(try scores.value(forKey: "last") == 4)
      #expect(try scores.value(forKey: "nan") == nil)
      #expect(try scores.isExpired(forKey: "past") && !scores.isExpired(forKey: "last"))
      #expect(try scores.entry(forKey: "past", allowExpired: true)?.isExpired() == true)
      #expect(try scores.count() == 2)
      #expect(try scores.removeExpired() == 3)
      #expect(try scores.count() == 2)
      #expect(try Set(scores.keys()) == ["century", "last"])
    }
  }

  /// A key that is not printed whole.
  struct Key: ExpressibleByStringLiteral, CustomTestStringConvertible {
    var text: String

    init(_ text: String) { self.text = text }
    init(stringLiteral text: String) { self.text = text }

    var testDescription: String { "\(text.prefix(20).debugDescription), \(text.utf8.count) bytes" }
  }

  @Test(
    arguments: [
      "", "a/b/../c", "🌍👩‍👩‍👧", "nul\u{0}nul", "line\nline", "#", Key(String(repeating: "k", count: 65_535)),
    ] as [Key]
  )
  func anyStringIsAKey(_ argument: Key) throws {
    let key = argument.text
    try withTemporaryStore { store in
      let scores = try store.storage("scores", of: Int.self)
      try scores.set(7, forKey: key)
      #expect(try scores.value(forKey: key) == 7)
      #expect(try scores.keys() == [key])
      #expect(try store.keyspace("scores").get(key) == [7, 0, 0, 0, 0, 0, 0, 0])
    }
  }

  @Test func keyThatIsTooLongIsRefused() throws {
    try withTemporaryStore { store in
      let scores = try store.storage("scores", of: Int.self)
      let error = failure { try scores.set(1, forKey: String(repeating: "k", count: 65_536)) }
      guard case .store(.keyTooLong(65_536)) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
    }
  }

  @Test func undecodableBytesGiveAPreciseErrorAndStay() throws {
    try withTemporaryStore { store in
      let users = try store.storage("users", of: User.self)
      // {"id": 1} in CBOR.
      let bytes: [UInt8] = [0xA1, 0x62, 0x69, 0x64, 0x01]
      try store.keyspace("users").put(bytes, forKey: "anna")
      for error in [
        failure(of: { try users.value(forKey: "anna") }),
        failure(of: { try users.entry(forKey: "anna") }),
        failure(of: { try users.update(forKey: "anna") { _ in } }),
        failure(of: { try users.values() }),
      ] {
        guard case .decoding(let key, let view, let expected, let underlying) = error else {
          Issue.record("\(String(describing: error))")
          continue
        }
        #expect(key == "anna" && view == "users" && expected == "User (cbor)")
        #expect("\(underlying)".contains("name"))
      }
      #expect(try store.keyspace("users").get("anna") == bytes)
      #expect(try users.contains("anna"))
      #expect(try users.keys() == ["anna"])
      var failures = 0
      try users.forEachEntry(onFailure: { _ in failures += 1 }) { _, _ in }
      #expect(failures == 1)
    }
  }

  @Test func valueThatCannotBeEncodedChangesNothing() throws {
    try withTemporaryStore { store in
      let heights = try store.storage("heights", transformer: Transformer<[Double]>.json)
      try heights.set([1], forKey: "a")
      let before = store.lastSequence
      let error = failure { try heights.set([1, .nan], forKey: "a") }
      guard case .encoding("heights", "Array<Double>", let underlying) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect("\(underlying)".contains("1"))
      _ = failure { try heights.update(forKey: "a") { $0 = [.infinity] } }
      #expect(try heights.value(forKey: "a") == [1])
      #expect(store.lastSequence == before)
    }
  }

  @Test func viewsOfOtherTypesSeeEachOthersWrites() throws {
    try withTemporaryStore { store in
      let texts = try store.storage("values", of: String.self)
      let bytes = try texts.transform(to: .bytes)
      let numbers = try texts.transform(to: .json(Int.self))
      try texts.set("12", forKey: "k")
      #expect(try bytes.value(forKey: "k") == [0x31, 0x32])
      #expect(try numbers.value(forKey: "k") == 12)
      try numbers.set(13, forKey: "k")
      #expect(try texts.value(forKey: "k") == "13")
    }
  }

  @Test func schemaChangedSinceWrittenGoesThroughItsMigration() throws {
    struct Old: Codable, Sendable { var name: String }
    try withTemporaryStore { store in
      try store.storage("users", of: Old.self).set(Old(name: "Anna"), forKey: "1")
      let users = try store.storage(
        "users",
        transformer: Transformer<User>.binary.versioned(1) { _, bytes in
          User(id: 0, name: try Transformer<Old>.binary.decode(bytes).name)
        }
      )
      #expect(try users.value(forKey: "1") == User(id: 0, name: "Anna"))
      try users.update(forKey: "1") { $0?.id = 5 }
      #expect(try users.value(forKey: "1") == User(id: 5, name: "Anna"))
      let unmigrated = try store.storage("users", of: Old.self)
      guard case .decoding = failure(of: { try unmigrated.value(forKey: "1") }) else {
        Issue.record("read without its migration")
        return
      }
    }
  }

  @Test func emptyingRemovesThisKeyspaceOnly() throws {
    try withTemporaryStore { store in
      let scores = try store.storage("scores", of: Int.self)
      let others = try store.storage("others", of: Int.self)
      for number in 0..<10 { try scores.set(number, forKey: "\(number)") }
      try others.set(1, forKey: "a")
      #expect(try scores.values().sorted() == Array(0..<10))
      try scores.removeAll()
      #expect(try scores.entries().isEmpty && scores.count() == 0)
      #expect(try others.value(forKey: "a") == 1)
    }
  }

  @Test func updateIsAtomicAndKeepsTheExpiry() throws {
    try withTemporaryStore { store in
      let scores = try store.storage("scores", of: Int.self)
      try scores.set(1, forKey: "a", expiry: .after(.seconds(86_400)))
      let expiry = try scores.entry(forKey: "a")?.expiry
      #expect(try scores.update(forKey: "a", default: 0) { $0 += 1 } == 2)
      #expect(try scores.entry(forKey: "a")?.expiry == expiry)
      try scores.update(forKey: "a", expiry: .never) { _ in }
      #expect(try scores.entry(forKey: "a")?.expiry == .never)
      try scores.update(forKey: "a") { $0 = nil }
      #expect(try !scores.contains("a"))
      try scores.update(forKey: "a") { $0 = nil }
      struct Own: Error {}
      #expect(throws: Own.self) {
        try scores.update(forKey: "a") { value in
          value = 9
          throw Own()
        }
      }
      #expect(try !scores.contains("a"))
    }
  }

  @Test func updateRunsAgainWhenAnotherWriterWasFirst() throws {
    try withTemporaryStore { store in
      let scores = try store.storage("scores", of: Int.self)
      try scores.set(1, forKey: "a")
      var runs = 0
      try scores.update(forKey: "a") { (value: inout Int?) throws(StorageError) in
        runs += 1
        if runs == 1 { try scores.set(10, forKey: "a") }
        value = (value ?? 0) + 1
      }
      #expect(try scores.value(forKey: "a") == 11)
      try scores.update(forKey: "a") { (value: inout Int?) throws(StorageError) in
        runs += 1
        if runs == 3 { try scores.set(20, forKey: "a") }
        value = nil
      }
      #expect(runs == 4)
      #expect(try scores.value(forKey: "a") == nil)
    }
  }

  @Test func twentyThousandConcurrentUpdatesEndAtTwentyThousand() throws {
    try withTemporaryStore { store in
      let scores = try store.storage("scores", of: Int.self)
      onThreads(8) { _ in
        for _ in 0..<2500 { _ = try? scores.update(forKey: "a", default: 0) { $0 += 1 } }
      }
      #expect(try scores.value(forKey: "a") == 20_000)
    }
  }

  @Test func closedStoreIsAnErrorOfTheStore() throws {
    try withTemporaryStore { store in
      let scores = try store.storage("scores", of: Int.self)
      try store.close()
      guard case .store(.closed) = failure(of: { try scores.set(1, forKey: "a") }),
        case .store(.closed) = failure(of: { try scores.value(forKey: "a") })
      else {
        Issue.record("not the store's error")
        return
      }
    }
  }
}

extension Transformer where Value: Codable {
  static func json(_ type: Value.Type) -> Transformer { .json }
}
