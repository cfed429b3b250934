import Esker
import EskerTestSupport
import Foundation
import Testing

@Suite struct MappingTests {
  private let base = DictionaryStorage(["a": 1, "b": 2], name: "base")

  @Test func valuesAreMappedBothWays() throws {
    let texts = base.mapValues {
      "\($0)"
    } from: {
      try #require(Int($0))
    }
    #expect(try texts.value(forKey: "a") == "1")
    #expect(try texts.entry(forKey: "a")?.origin == .memory)
    try texts.set("7", forKey: "c")
    #expect(base.all["c"] == 7)
    #expect(try texts.update(forKey: "c", default: "") { $0 += "0" } == "70")
    #expect(base.all["c"] == 70)
    #expect(try texts.values().sorted() == ["1", "2", "70"])
    #expect(try texts.count() == 3)
    try texts.removeAll()
    #expect(base.all.isEmpty)
  }

  @Test func mappingThatThrowsIsAnEncodingOrDecodingErrorAndChangesNothing() throws {
    struct Odd: Error {}
    let even = base.mapValues { (value: Int) throws -> Int in
      if value % 2 == 1 { throw Odd() }
      return value
    } from: { value in
      if value % 2 == 1 { throw Odd() }
      return value
    }
    guard case .decoding("a", "base", "Int", let underlying) = failure(of: { try even.value(forKey: "a") }),
      case .encoding("base", "Int", _) = failure(of: { try even.set(3, forKey: "b") }),
      case .encoding = failure(of: { try even.update(forKey: "b") { $0 = 3 } })
    else {
      Issue.record("another error")
      return
    }
    #expect(underlying is Odd)
    #expect(base.all == ["a": 1, "b": 2])
  }

  @Test func keysAreMapped() throws {
    struct Odd: Error {}
    let numbers = base.mapKeys { (number: Int) throws -> String in
      guard number < 2 else { throw Odd() }
      return ["a", "b"][number]
    }
    #expect(try numbers.value(forKey: 1) == 2)
    try numbers.set(9, forKey: 0)
    #expect(try numbers.update(forKey: 0) { $0.map { $0 + 1 } } == 10)
    #expect(try numbers.removeValue(forKey: 1))
    #expect(base.all == ["a": 9])
    guard case .key("5", "base", _) = failure(of: { try numbers.value(forKey: 5) }) else {
      Issue.record("another error")
      return
    }
  }

  enum Name: String, StorageKey { case a, b }

  @Test func rawValuesAreMappedToTheirTypes() throws {
    #expect(try base.mapKeys(toRaw: Name.self).value(forKey: .b) == 2)
    let names = DictionaryStorage<Name, String>([.a: "b"])
    #expect(try names.usingStringKeys().value(forKey: "a") == "b")
    guard case .key("z", _, _) = failure(of: { try names.usingStringKeys().value(forKey: "z") }) else {
      Issue.record("another error")
      return
    }
    #expect(try names.mapValues(toRaw: Name.self).value(forKey: .a) == .b)
    try names.mapValues(toRaw: Name.self).set(.a, forKey: .a)
    #expect(names.all == [.a: "a"])
  }

  @Test func oneWayMapsReadOrWriteOnly() throws {
    let doubled = base.mapValues(to: Int.self) { $0 * 2 }
    #expect(try doubled.value(forKey: "b") == 4)
    #expect(!(doubled as Any is any WritableStorage))
    let halved = base.writeOnly().mapValues(from: { (value: Int) in value / 2 })
    try halved.set(8, forKey: "a")
    #expect(base.all["a"] == 4)
    #expect(!(halved as Any is any ReadableStorage))
  }

  @Test func readOnlyAndWriteOnlyAreEnforcedByTheTypes() throws {
    let reading = base.readOnly().mapKeys { (key: Substring) in String(key) }.validate { $0 > 0 }.renaming(to: "r")
    #expect(try reading.value(forKey: "a") == 1)
    #expect(!(reading as Any is any WritableStorage))
    let writing = base.writeOnly().mapKeys { (key: Substring) in String(key) }.validate { $0 > 0 }.renaming(to: "w")
    try writing.set(5, forKey: "a")
    #expect(base.all["a"] == 5)
    #expect(!(writing as Any is any ReadableStorage))
    #expect(!(writing.singleKey("a") as Any is any ReadableStorage))
  }

  @Test func validationRefusesInBothDirections() throws {
    let small = base.validate { $0 < 2 }
    #expect(try small.value(forKey: "a") == 1)
    guard case .rejected("b", "base", let underlying) = failure(of: { try small.value(forKey: "b") }),
      case .rejected = failure(of: { try small.set(5, forKey: "a") }),
      case .rejected = failure(of: { try small.update(forKey: "a") { $0 = 5 } })
    else {
      Issue.record("another error")
      return
    }
    #expect("\(underlying)" == "the value is not valid")
    #expect(base.all == ["a": 1, "b": 2])
  }

  @Test func renamedStorageIsNamedInErrors() {
    let renamed = base.validate { _ in false }.renaming(to: "strict")
    #expect(renamed.name == "strict")
    guard case .rejected(_, "strict", _) = failure(of: { try renamed.set(1, forKey: "a") }) else {
      Issue.record("another error")
      return
    }
  }

  @Test func everyErrorNamesTheStorageAsItIsCalledNow() throws {
    struct Own: Error {}
    /// The name in an error.
    func view(_ error: StorageError?) -> String? {
      switch error {
      case .decoding(_, let view, _, _), .key(_, let view, _), .unsupported(_, let view), .rejected(_, let view, _):
        view
      default: nil
      }
    }
    try withTemporaryStore { store in
      let log = try LogStorage(store, "n", key: String.self, of: Int.self)
      let numbers = log.mapKeys(to: Int.self) {
        guard $0 >= 0 else { throw Own() }
        return "\($0)"
      } back: { text in
        guard let number = Int(text) else { throw Own() }
        return number
      }.renaming(to: "new")
      let refusing = UnobservedStorage().renaming(to: "new")
      try log.set(1, forKey: "x")
      #expect(view(failure { try numbers.forEachKey { _ in } }) == "new")
      #expect(view(failure { try numbers.entries() }) == "new")
      #expect(view(failure { try numbers.identity(of: -1) }) == "new")
      #expect(view(failure { try numbers.observe(only: -1) { _ in } }) == "new")
      #expect(view(failure { try refusing.observe { _ in } }) == "new")
      #expect(view(failure { try refusing.count() }) == "new")
      #expect(view(failure { try refusing.removeAll() }) == "new")
      #expect(view(failure { try refusing.removeExpired() }) == "new")
      let heard = Collected<StorageChange<Int, Int>>()
      let token = try numbers.observe { heard.add($0) }
      try log.set(2, forKey: "x")
      #expect(heard.reach(1))
      guard case .unreadable(key: nil, let error) = heard.all[0] else {
        Issue.record("\(heard.all)")
        return
      }
      #expect(view(error) == "new")
      token.cancel()
      // What the caller's own code throws is not Esker's to rename.
      try log.removeAll()
      try log.set(1, forKey: "1")
      let own = StorageError.rejected(key: "k", view: "own", underlying: Own())
      #expect(view(failure { try numbers.forEachKey { (_) throws(StorageError) in throw own } }) == "own")
      #expect(view(failure { try numbers.forEachEntry { (_, _) throws(StorageError) in throw own } }) == "own")
    }
  }

  @Test func defaultAnswersForAbsenceAndNotForDamage() throws {
    let counts = base.defaulting(to: 0)
    #expect(try counts.value(forKey: "a") == 1)
    #expect(try counts.entry(forKey: "z") == Entry(0, origin: .produced))
    try counts.update(forKey: "z") { $0? += 3 }
    #expect(base.all["z"] == 3)
    base.refuse(reads: true)
    _ = failure { try counts.value(forKey: "a") }
  }

  @Test func fallbackAnswersForAbsenceAndForErrors() throws {
    struct None: Error {}
    let fallback = base.fallback { key, error in
      if key == "none" { throw None() }
      return error == nil ? -1 : -2
    }
    #expect(try fallback.value(forKey: "a") == 1)
    #expect(try fallback.entry(forKey: "z") == Entry(-1, origin: .produced))
    guard case .producer(let underlying) = failure(of: { try fallback.value(forKey: "none") }) else {
      Issue.record("another error")
      return
    }
    #expect(underlying is None)
    #expect(try fallback.update(forKey: "y") { $0 } == -1)
    base.refuse(reads: true)
    #expect(try fallback.value(forKey: "a") == -2)
  }

  @Test func producerThatFailsIsRescuedByTheNext() async throws {
    struct None: Error {}
    let both = base.fallback { _, _ in throw None() }.fallback { _, error in error == nil ? -1 : -2 }
    #expect(try both.value(forKey: "z") == -2)
    #expect(try await both.async.value(forKey: "z") == -2)
    #expect(try both.contains("a") && both.contains("z"))
    // What one has failed to make it does not make again.
    let tries = Collected<Int>()
    let once = base.fallback { _, _ in
      tries.add(1)
      throw None()
    }
    _ = failure { try once.value(forKey: "z") }
    #expect(tries.count == 1)
  }

  @Test func keyIsThereWhereItsValueIsRescued() async throws {
    let fallback = base.fallback { _, _ in -1 }
    base.refuse(reads: true)
    #expect(try fallback.value(forKey: "z") == -1)
    #expect(try fallback.contains("z"))
    #expect(try await fallback.async.contains("z"))
    _ = failure { try base.defaulting(to: 0).contains("z") }
  }

  @Test func valueWhoseTimeIsOverIsSeenThroughADefault() throws {
    let clock = FakeClock()
    let memory = MemoryStorage<String, Int>(clock: clock.storeClock)
    for (key, storage) in [
      ("a", PartialStorage(memory.defaulting(to: 0))), ("b", PartialStorage(memory.fallback { _, _ in 0 })),
    ] {
      try memory.set(1, forKey: key, expiry: .after(.seconds(1)))
      #expect(try !storage.isExpired(forKey: key) && !storage.isExpired(forKey: "z"))
      clock.advance(milliseconds: 1000)
      #expect(try storage.isExpired(forKey: key))
    }
  }

  @Test func emptyStorageKeepsNothing() throws {
    let empty = EmptyStorage<String, Int>()
    try empty.set(1, forKey: "a")
    #expect(try empty.value(forKey: "a") == nil)
    #expect(try empty.update(forKey: "a") { $0 == nil })
  }

  @Test func tapHearsEveryCall() throws {
    let calls = Collected<StorageRequest.Record>()
    let tapped = base.tap { calls.add($0) }
    _ = try tapped.value(forKey: "a")
    _ = try tapped.entry(forKey: "z")
    try tapped.set(1, forKey: "c")
    try tapped.removeValue(forKey: "c")
    try tapped.update(forKey: "a") { $0 = 5 }
    base.refuse(writes: true)
    _ = failure { try tapped.set(1, forKey: "c") }
    #expect(
      calls.all.map(\.kind) == [
        .read(found: true), .read(found: false), .set(isDone: true), .remove(found: true),
        // An update is a read and a write.
        .read(found: true), .set(isDone: true), .set(isDone: false),
      ]
    )
    #expect(calls.all.map { $0.error == nil } == [true, true, true, true, true, true, false])
    #expect(calls.all.allSatisfy { $0.storage == "base" && $0.duration >= .zero })
  }
}

/// Can do nothing with all its keys, and says so.
private struct UnobservedStorage: EnumerableStorage, ClearableStorage, ObservableStorage {
  typealias Key = String
  typealias Value = Int

  let name = "old"
  private var refusal: StorageError { .unsupported(operation: "do this", view: name) }

  func identity(of key: String) throws(StorageError) -> StorageRequest.Identity { throw refusal }

  func read(_ key: String, _ call: StorageRequest.Read) throws(StorageError) -> Entry<Int>? { nil }

  func write(_ key: String, _ call: StorageRequest.Write<Int>) throws(StorageError) -> StorageRequest.Receipt {
    throw refusal
  }

  func forEachEntry(
    onFailure failure: (StorageError) throws(StorageError) -> Void,
    _ body: (String, Entry<Int>) throws(StorageError) -> Void
  ) throws(StorageError) {
    throw refusal
  }

  func forEachKey(
    onFailure failure: (StorageError) throws(StorageError) -> Void,
    _ body: (String) throws(StorageError) -> Void
  ) throws(StorageError) { throw refusal }

  func count() throws(StorageError) -> Int { throw refusal }

  func removeAll(durability: Durability?) throws(StorageError) { throw refusal }

  func removeExpired() throws(StorageError) -> Int { throw refusal }

  func observe(
    only key: String?,
    _ body: @escaping @Sendable (StorageChange<String, Int>) -> Void
  ) throws(StorageError) -> ObservationToken {
    throw refusal
  }
}
