import Esker
import EskerCrypto
import EskerTestSupport
import Testing

/// A value that cannot be opened is one error wherever it is asked for: it names key, keyspace and encryption key. The value stays.
@Suite struct SealedErrorTests {
  /// Why a value cannot be opened.
  enum Cause: CaseIterable {
    case missingKey, otherKey, otherAlgorithm, plain, moved

    var expected: SealingError {
      switch self {
      case .missingKey: .unknownKey(id: 5)
      case .otherKey, .otherAlgorithm, .moved: .notAuthentic(keyID: 5)
      case .plain: .notSealed
      }
    }
  }

  private typealias Letters = Storage<String, String>

  /// A store whose only value cannot be opened by the storage, and what stands there.
  private func withLetters(
    _ cause: Cause,
    _ body: (Letters, LogStore, KeyRing) async throws -> Void
  ) async throws {
    let directory = try TemporaryDirectory()
    let store = try LogStore(at: directory.appending("store"))
    let key = KeyRing.Key.random(id: 5)
    let form = Transformer<String>.utf8
    try store.storage("letters", transformer: form.sealed(with: KeyRing(key))).set("Dear Anna", forKey: "anna")
    let raw = try store.keyspace("letters")
    let keys: KeyRing
    switch cause {
    case .missingKey: keys = try KeyRing(id: 6)
    case .otherKey: keys = try KeyRing(id: 5)
    case .otherAlgorithm: keys = try KeyRing(KeyRing.Key(id: 5, base64: key.base64, algorithm: .chaChaPoly))
    case .plain:
      keys = try KeyRing(key)
      try raw.put("Dear Anna, this was never sealed, though it is long enough", forKey: "anna")
    case .moved:
      keys = try KeyRing(key)
      let other = try store.storage("others", transformer: form.sealed(with: keys))
      try other.set("Dear Anna", forKey: "anna")
      try raw.put(try #require(try store.keyspace("others").get("anna")), forKey: "anna")
    }
    let before = try raw.get("anna")
    try await body(try store.storage("letters", transformer: form.sealed(with: keys)), store, keys)
    #expect(try raw.get("anna") == before, "the value stays")
    try store.close()
  }

  /// - Parameter form: What the values would be if they could be opened.
  private func expect(_ cause: Cause, _ place: String, _ body: () async throws -> Void) async {
    do {
      try await body()
      Issue.record("\(place): nothing was thrown")
    } catch StorageError.decoding("anna", "letters", _, let underlying) {
      #expect(underlying as? SealingError == cause.expected, "\(place): \(underlying)")
    } catch {
      Issue.record("\(place): \(error)")
    }
  }

  @Test(arguments: Cause.allCases) func threads(_ cause: Cause) async throws {
    try await withLetters(cause) { letters, store, keys in
      await expect(cause, "value") { _ = try letters.value(forKey: "anna") }
      await expect(cause, "entry") { _ = try letters.entry(forKey: "anna") }
      await expect(cause, "even expired") { _ = try letters.entry(forKey: "anna", allowExpired: true) }
      await expect(cause, "sliding") { _ = try letters.value(forKey: "anna", extendingBy: .seconds(60)) }
      await expect(cause, "several") { _ = try letters.values(forKeys: ["bert", "anna"]) }
      await expect(cause, "values") { _ = try letters.values() }
      await expect(cause, "entries") { _ = try letters.entries() }
      await expect(cause, "each entry") { try letters.forEachEntry { (_, _) throws(StorageError) in } }
      await expect(cause, "range") { _ = try letters.entries(in: .from("a")) }
      await expect(cause, "first") { _ = try letters.first() }
      await expect(cause, "last") { _ = try letters.last() }
      await expect(cause, "update") { try letters.update(forKey: "anna") { $0 = "changed" } }
      await expect(cause, "append") { try letters.append("!", toKey: "anna") }
      await expect(cause, "transaction") {
        try store.transaction { transaction in _ = try transaction.value(forKey: "anna", in: letters) }
      }
      // Other storages over it.
      let front = HybridStorage(letters, limits: MemoryLimits(count: 10))
      await expect(cause, "front") { _ = try front.value(forKey: "anna") }
      let form = Transformer<String>.utf8.sealed(with: keys)
      let shouting = form.map(id: "shouting", to: { $0 + "!" }, from: { String($0.dropLast()) })
      await expect(cause, "map") { _ = try letters.transform(to: shouting).value(forKey: "anna") }
      // What tells and does not throw.
      @Stored("anna", in: letters) var anna = "nobody"
      #expect(anna == "nobody")
      anna = "changed"
      await expect(cause, "property") { throw try #require($anna.error) }
      let report = try letters.check()
      #expect(report.undecoded == 1 && report.failures.first?.reason.contains("\(cause.expected)") == true)
      #expect(try letters.values(skippingUnreadable: true).isEmpty)
      let result = try await store.keyspace("letters").reseal(with: keys)
      // A value that has the current key is not opened.
      let isLookedAt = cause == .missingKey || cause == .otherAlgorithm || cause == .plain
      #expect(result.failures.map { $0.error as? SealingError } == (isLookedAt ? [cause.expected] : []))
      #expect(result.isComplete == !isLookedAt)
    }
  }

  @Test(arguments: Cause.allCases) func tasks(_ cause: Cause) async throws {
    try await withLetters(cause) { letters, _, _ in
      let letters = letters.async
      await expect(cause, "value") { _ = try await letters.value(forKey: "anna") }
      await expect(cause, "entry") { _ = try await letters.entry(forKey: "anna") }
      await expect(cause, "sliding") { _ = try await letters.value(forKey: "anna", extendingBy: .seconds(60)) }
      await expect(cause, "several") { _ = try await letters.values(forKeys: ["bert", "anna"]) }
      await expect(cause, "values") { _ = try await letters.values() }
      await expect(cause, "entries") { _ = try await letters.entries() }
      await expect(cause, "range") { _ = try await letters.entries(in: .from("a")) }
      await expect(cause, "first") { _ = try await letters.first() }
      await expect(cause, "update") { try await letters.update(forKey: "anna") { $0 = "changed" } }
      await expect(cause, "append") { try await letters.append("!", toKey: "anna") }
    }
  }
}
