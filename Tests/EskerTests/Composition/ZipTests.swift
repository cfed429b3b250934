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

  @Test func partOfAnyCompositionIsPutBack() throws {
    let pair = zip(one, two)
    try check(pair, (7, 8), "pair")
    try check(pair.renaming(to: "x"), (7, 8), "renamed")
    try check(pair.cached(), (7, 8), "cached")
    try check(
      pair.mapValues {
        [$0.0, $0.1]
      } from: {
        ($0[0], $0[1])
      },
      [7, 8],
      "mapped"
    )
    try check(zip(one, two, DictionaryStorage<String, Int>()), (7, 8, 9), "triple")
    try check(DictionaryStorage<String, (Int, Int)>().combined(with: pair), (7, 8), "combined")
    try check(zip(one, two, DictionaryStorage<String, Int>(), DictionaryStorage<String, Int>()), (7, 8, 9, 9), "four")
  }

  @Test func whatWasNotThereIsNotThereAfterwards() throws {
    try check(one.defaulting(to: 0), 7, "default")
    try check(one.fallback { _, _ in 0 }, 7, "producer")
    try check(one.fallback(with: DictionaryStorage(["a": 3])), 7, "fallback")
    try check(one.backed(by: DictionaryStorage(["a": 3]), pullStrategy: .neverPull), 7, "backed")
    try check(PartialStorage(one.defaulting(to: 0)), 7, "erased")
    try check(Storage(MemoryLike(one)), 7, "erased")
  }

  @Test func bothTiersOfAPartAreAsTheyWereOrAskAgain() throws {
    let front = DictionaryStorage(["a": 5])
    try check(
      front.combined(
        with: zip(one, two).mapValues(to: Int.self) {
          $0.0
        } from: {
          ($0, $0)
        }
      ),
      7,
      "back"
    )
    #expect(front.all.isEmpty)
    try two.set(2, forKey: "a")
    try one.set(1, forKey: "a")
    // What is sent on is taken back as well, without a look there.
    let reads = two.reads
    _ = failure { try zip(one.pushing(to: two), refusing).set((7, 9), forKey: "a") }
    #expect(one.all == ["a": 1] && two.all == ["a": 1] && two.reads == reads)
  }

  @Test func memoryAheadOfPartsAgreesWithThemAfterwards() throws {
    try one.set(1, forKey: "a")
    let cached = zip(one, two).cached()
    #expect(try #require(try cached.value(forKey: "a")) == (1, 2))
    _ = failure { try zip(cached, refusing).set(((7, 8), 9), forKey: "a") }
    #expect(one.all == ["a": 1] && two.all == ["a": 2])
    #expect(try #require(try cached.value(forKey: "a")) == (1, 2))
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

  @Test func conditionIsRefusedAndATouchIsOfBothOrOfNone() throws {
    let pairs = zip(one, two)
    try one.set(1, forKey: "a")
    for condition in [StorageRequest.Condition.absent, .present, .version(SequenceNumber(rawValue: 1))] {
      guard case .unsupported = failure(of: { try pairs.write("a", StorageRequest.Write(.set((7, 8)), if: condition)) })
      else {
        Issue.record("another error")
        return
      }
    }
    #expect(one.all == ["a": 1] && two.all == ["a": 2])
    let end = Expiry.at(WallTime(millisecondsSince1970: 9_000_000_000_000))
    #expect(try pairs.write("a", StorageRequest.Write(.touch, if: .present, expiry: end)).isDone)
    #expect(try pairs.entry(forKey: "a")?.expiry == end)
    try one.set(1, forKey: "b")
    #expect(try !pairs.write("b", StorageRequest.Write(.touch, if: .present, expiry: end)).isDone)
    #expect(try one.entry(forKey: "b")?.expiry == .never)
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

  func identity(of key: String) throws(StorageError) -> StorageRequest.Identity { try base.identity(of: key) }

  func read(_ key: String, _ call: StorageRequest.Read) throws(StorageError) -> Entry<Int>? { try base.read(key, call) }

  func write(_ key: String, _ call: StorageRequest.Write<Int>) throws(StorageError) -> StorageRequest.Receipt {
    try base.write(key, call)
  }

  func forEachEntry(
    onFailure failure: (StorageError) throws(StorageError) -> Void,
    _ body: (String, Entry<Int>) throws(StorageError) -> Void
  ) throws(StorageError) {
    try base.forEachEntry(onFailure: failure, body)
  }

  func forEachKey(
    onFailure failure: (StorageError) throws(StorageError) -> Void,
    _ body: (String) throws(StorageError) -> Void
  ) throws(StorageError) { try base.forEachKey(onFailure: failure, body) }

  func count() throws(StorageError) -> Int { try base.count() }

  func removeAll(durability: Durability?) throws(StorageError) { try base.removeAll() }

  func removeExpired() throws(StorageError) -> Int { try base.removeExpired() }

  func observe(
    only key: String?,
    _ body: @escaping @Sendable (StorageChange<String, Int>) -> Void
  ) throws(StorageError) -> ObservationToken {
    throw .unsupported(operation: "be observed", view: name)
  }
}
