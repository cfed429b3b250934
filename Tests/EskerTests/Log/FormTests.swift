import Esker
import EskerTestSupport
import Foundation
import Testing

/// The forms of keys and values that typed views record and are held to.
@Suite struct FormTests {
  struct User: Codable, Equatable, Identifiable {
    var id: Int
    var name: String
  }

  private struct Item: Codable {
    var price: Int
  }

  private enum Suit: String, Codable, StorageKey {
    case hearts, spades
  }

  /// The refusal of a view, in words that a comparison can have.
  private func refusal<R>(of body: () throws -> R, sourceLocation: SourceLocation = #_sourceLocation) -> [String] {
    guard
      case .form(of: let part, keyspace: let name, recorded: let recorded, asked: let asked)? = failure(
        of: body,
        sourceLocation: sourceLocation
      )
    else { return [] }
    return [part.rawValue, name, recorded, asked]
  }

  // MARK: Recording

  @Test func firstViewRecordsBothForms() throws {
    try withTemporaryStore { store in
      _ = try store.storage("a", of: Int.self)
      _ = try store.storage("b", key: Int.self, of: User.self)
      _ = try store.storage("c", key: UUID.self, transformer: Transformer<User>.json)
      _ = try store.storage("d", key: CompositeKey<String, UInt16>.self, of: Date.self)
      _ = try store.storage("e", key: Suit.self, of: Suit.self)
      try store.set(User(id: 1, name: "Anna"))
      let own = Transformer(id: "own@3") { (user: User) in
        user.name
      } decode: {
        User(id: 0, name: "\($0.byteCount)")
      }
      _ = try store.storage("f", transformer: own.then(.lz4))
      let forms = try Dictionary(
        uniqueKeysWithValues: store.keyspaceNames.map { name in
          let space = try store.keyspace(name)
          return (name, [space.keyForm, space.valueForm])
        }
      )
      #expect(
        forms == [
          "a": ["utf8", "int64"], "b": ["int64", "cbor"], "c": ["uuid", "json"], "d": ["utf8,uint16", "date"],
          "e": ["utf8", "cbor"], "EskerTests.FormTests.User": ["int64", "cbor"], "f": ["utf8", "own+lz4"],
        ]
      )
    }
  }

  @Test func keyspaceOfBytesGetsTheFormsOfItsFirstView() throws {
    try withTemporaryStore { store in
      try store.put("1", forKey: "k")
      try store.keyspace("n").put("12345678", forKey: "k")
      let words = try store.storage("", of: String.self)
      #expect(try words.value(forKey: "k") == "1")
      let numbers = try store.storage("n", of: Int.self)
      #expect(try numbers.value(forKey: "k") == 0x3837_3635_3433_3231)
      #expect(refusal(of: { try store.storage("n", of: String.self) }) == ["values", "n", "int64", "utf8"])
      // Bytes may be written anywhere.
      try store.keyspace("n").put("x", forKey: "k")
    }
  }

  @Test func formThatIsTooLongIsRefused() throws {
    try withTemporaryStore { store in
      let long = Transformer<String>.utf8.map(id: String(repeating: "x", count: 256), to: { $0 }, from: { $0 })
      guard case .unsupported(_, view: "n") = failure(of: { try store.storage("n", transformer: long) }) else {
        Issue.record("it was recorded")
        return
      }
      let names = try store.keyspaceNames
      #expect(names.isEmpty)
    }
  }

  // MARK: Refusals

  @Test func viewsWithOtherKeysAreRefused() throws {
    try withTemporaryStore { store in
      let numbers = try store.storage("n", key: Int.self, of: String.self)
      try numbers.set("one", forKey: 1)
      let expected = ["keys", "n", "int64", "utf8"]
      #expect(refusal(of: { try store.storage("n", of: String.self) }) == expected)
      #expect(refusal(of: { try store.storage("n", of: String.self, memory: MemoryLimits(count: 9)) }) == expected)
      #expect(refusal(of: { try store.storage("n", transformer: Transformer<String>.utf8) }) == expected)
      #expect(refusal(of: { try LogStorage(store, "n", key: String.self, of: String.self) }) == expected)
      #expect(refusal(of: { try LogStorage(store, "n", key: String.self, transformer: .utf8) }) == expected)
      #expect(refusal(of: { try HybridStorage(LogStorage(store, "n", key: String.self, of: String.self)) }) == expected)
      #expect(refusal(of: { try Stored(wrappedValue: "", "one", in: store, keyspace: "n").load() }) == expected)
      let (keys, values) = (String.keyTransformer, Transformer<String>.utf8)
      #expect(refusal(of: { try store.storage(keyspace: "n", keys: keys, values: values) }) == expected)
      let keyspace = try store.keyspace("n")
      #expect(refusal(of: { try LogStorage(keyspace: keyspace, keys: keys, values: values) }) == expected)
      #expect(
        refusal(of: { try store.storage("n", key: UInt.self, of: String.self) }) == ["keys", "n", "int64", "uint64"]
      )
      // The same form by another type.
      #expect(try store.storage("n", key: Int64.self, of: String.self).value(forKey: 1) == "one")
    }
  }

  @Test func viewsWithAnotherFormOfTheirOwnAreRefused() throws {
    try withTemporaryStore { store in
      let texts = try store.storage("n", of: String.self)
      try texts.set("12345678", forKey: "a")
      for (form, attempt) in [
        ("int64", { _ = try store.storage("n", of: Int.self) }),
        ("int64", { _ = try store.storage("n", of: Int.self, memory: MemoryLimits(count: 9)) }),
        ("int64", { _ = try LogStorage(store, "n", key: String.self, of: Int.self) }),
        ("int64", { _ = HybridStorage(try LogStorage(store, "n", key: String.self, of: Int.self)) }),
        ("cbor", { _ = try Stored(wrappedValue: "", "a", in: store, keyspace: "n").load() }),
        ("float64", { _ = try store.storage("n", of: Double.self) }),
        ("date", { _ = try store.storage("n", of: Date.self) }),
        ("bytes", { _ = try store.storage("n", of: [UInt8].self) }),
        ("bytes", { _ = try store.storage("n", of: Data.self) }),
        ("bool", { _ = try store.storage("n", of: Bool.self) }),
        ("cbor", { _ = try store.storage("n", of: User.self) }),
      ] as [(String, () throws -> Void)] {
        #expect(refusal(of: attempt) == ["values", "n", "utf8", form])
      }
      _ = try store.storage("items", of: Item.self)
      // The name of a type is not recorded.
      _ = try store.storage("items", of: User.self)
    }
  }

  @Test func formOfTheCallersChoiceMayDiffer() throws {
    try withTemporaryStore { store in
      let texts = try store.storage("n", of: String.self)
      try texts.set("12345678", forKey: "a")
      let numbers = try store.storage("n", transformer: Transformer<Int>.littleEndian)
      #expect(try numbers.value(forKey: "a") == 0x3837_3635_3433_3231)
      #expect(try texts.transform(to: Transformer<[UInt8]>.bytes).value(forKey: "a")?.count == 8)
      #expect(try store.keyspace("n").valueForm == "utf8")
    }
  }

  @Test func versionsOfAFormAreTheSameForm() throws {
    try withTemporaryStore { store in
      _ = try store.storage("users", of: User.self)
      let users = Transformer<User>.binary.versioned(2) { _, bytes in try Transformer<User>.binary.decode(bytes) }
      try store.storage("users", transformer: users).set(User(id: 1, name: "Anna"), forKey: "a")
      #expect(try store.keyspace("users").valueForm == "cbor")
      _ = try store.storage("others", transformer: users.then(.checksum))
      #expect(try store.keyspace("others").valueForm == "cbor+crc32c")
      #expect(
        refusal(of: { try store.storage("others", of: User.self) }) == ["values", "others", "cbor+crc32c", "cbor"]
      )
    }
  }

  @Test func refusalRecordsAndCreatesNothing() throws {
    try withTemporaryStore { store in
      _ = try store.storage("n", key: Int.self, of: String.self)
      _ = refusal(of: { try store.storage("n", of: User.self) })
      let space = try store.keyspace("n")
      #expect(space.keyForm == "int64" && space.valueForm == "utf8")
      #expect(try store.keyspaceNames == ["n"])
    }
  }

  @Test func errorSaysWhatAndWhatToDo() throws {
    let error = StorageError.form(of: .keys, keyspace: "n", recorded: "int64", asked: "utf8")
    #expect(
      error.description
        == "n: its keys have the form int64, not utf8; nothing was changed: use keys of that form, or another "
        + "name, or copy the entries to another keyspace"
    )
  }

  // MARK: Settings, removal, other processes

  @Test func settingsOfSeveralTypesShareAKeyspaceAsCBOR() throws {
    try withTemporaryStore { store in
      let count = Stored(wrappedValue: 0, "count", in: store)
      let title = Stored(wrappedValue: "", "title", in: store)
      let since = Stored(wrappedValue: Date.distantPast, "since", in: store)
      (count.wrappedValue, title.wrappedValue, since.wrappedValue) = (7, "12345678", Date(timeIntervalSince1970: 0.1))
      #expect(since.wrappedValue == Date(timeIntervalSince1970: 0.1))
      let form = try store.keyspace("settings").valueForm
      #expect(form == "cbor")
      // What another type has written is not taken for one's own.
      let wrong = Stored(wrappedValue: 5, "title", in: store)
      #expect(wrong.wrappedValue == 5)
      guard case .decoding? = wrong.error else {
        Issue.record("\(String(describing: wrong.error))")
        return
      }
    }
  }

  @Test func removedKeyspaceForgetsItsForms() throws {
    try withTemporaryStore { store in
      try store.storage("n", key: Int.self, of: String.self).set("one", forKey: 1)
      try store.removeKeyspace("n")
      try store.storage("n", of: Int.self).set(1, forKey: "one")
      #expect(try store.keyspace("n").keyForm == "utf8")
    }
  }

  @Test func laterOpeningAndAReaderAreHeldToTheForms() throws {
    let path = temporaryPath()
    defer { try? FileManager.default.removeItem(atPath: path) }
    var store = try LogStore(at: path)
    try store.keyspace("bytes").put("v", forKey: "k")
    let reader = try LogStore(at: path, options: Options(readOnly: true))
    // Nothing is recorded, and a reader cannot: any view may look.
    #expect(try reader.storage("bytes", of: String.self).value(forKey: "k") == "v")
    _ = try reader.storage("bytes", key: UUID.self, of: Int.self)
    _ = try store.storage("bytes", of: String.self)
    #expect(refusal(of: { try reader.storage("bytes", of: Int.self) }) == ["values", "bytes", "utf8", "int64"])
    try store.storage("n", key: Int.self, of: String.self).set("one", forKey: 1)
    #expect(refusal(of: { try reader.storage("n", of: String.self) }) == ["keys", "n", "int64", "utf8"])
    #expect(try reader.storage("n", key: Int.self, of: String.self).value(forKey: 1) == "one")
    try reader.close()
    try store.close()
    store = try LogStore(at: path)
    #expect(refusal(of: { try store.storage("n", of: String.self) }) == ["keys", "n", "int64", "utf8"])
    try store.close()
  }
}
