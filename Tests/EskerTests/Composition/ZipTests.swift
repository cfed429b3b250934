import Esker
import Testing

/// What a zip that is not written leaves behind, and what it says of pairs.
@Suite struct ZipTests {
  private let one = DictionaryStorage<String, Int>(name: "one")
  private let two = DictionaryStorage(["a": 2], name: "two")
  private let refusing = DictionaryStorage<String, Int>(name: "refusing")

  init() { refusing.refuse(writes: true) }

  /// A failed write of "a" must leave what was there: nothing in the first, 2 in the second.
  private func check<Inner: ReadableStorage & WritableStorage>(
    _ inner: Inner,
    _ value: Inner.Value,
    _ comment: Comment
  ) throws where Inner.Key == String {
    _ = failure { try zip(inner, refusing).set((value, 9), forKey: "a") }
    #expect(one.all.isEmpty && two.all == ["a": 2], comment)
  }

  @Test func pairWithAHalfThatWasMadeOrStandsInIsNotKept() throws {
    let halves = DictionaryStorage(["a": 1])
    let made = zip(two, one.defaulting(to: 7))
    #expect(try made.entry(forKey: "a")?.origin == .produced)
    let keeping = made.cached()
    #expect(try keeping.value(forKey: "a")?.1 == 7)
    try one.set(1, forKey: "a")
    #expect(try keeping.value(forKey: "a")?.1 == 1)
    let standing = zip(two, halves.fallback(with: DictionaryStorage(["a": 7]))).cached()
    halves.refuse(reads: true)
    #expect(try standing.value(forKey: "a")?.1 == 7)
    halves.refuse()
    #expect(try standing.value(forKey: "a")?.1 == 1)
  }
}

/// All that ``Storage`` asks for, of a storage that is seen through a default.
private struct MemoryLike: UpdatableStorage, EnumerableStorage, ClearableStorage, ObservableStorage {
  typealias Key = String
  typealias Value = Int

  let base: Composed<DictionaryStorage<String, Int>, StorageStep.Default<String, Int>>
  var name: String { base.name }

  init(_ base: DictionaryStorage<String, Int>) {
    self.base = base.defaulting(to: 0)
  }

  func identity(of key: String) throws(StorageError) -> StorageCall.Identity { try base.identity(of: key) }

  func read(_ key: String, _ call: StorageCall.Read) throws(StorageError) -> Entry<Int>? { try base.read(key, call) }

  func write(_ key: String, _ call: StorageCall.Write<Int>) throws(StorageError) -> StorageCall.Receipt {
    try base.write(key, call)
  }

  func forEachEntry(
    onFailure failure: (StorageError) throws(StorageError) -> Void,
    _ body: (String, Entry<Int>) throws(StorageError) -> Void
  ) throws(StorageError) {
    try base.forEachEntry(onFailure: failure, body)
  }

  func forEachKey(_ body: (String) throws(StorageError) -> Void) throws(StorageError) { try base.forEachKey(body) }

  func count() throws(StorageError) -> Int { try base.count() }

  func removeAll() throws(StorageError) { try base.removeAll() }

  func removeExpired() throws(StorageError) -> Int { try base.removeExpired() }

  func observe(
    only key: String?,
    _ body: @escaping @Sendable (StorageChange<String, Int>) -> Void
  ) throws(StorageError) -> ObservationToken {
    throw .unsupported(operation: "be observed", view: name)
  }
}
