import Esker
import Testing

/// Strings that Swift calls equal but that have other bytes are two keys, of a log as of memory.
@Suite struct SpellingTests {
  private static let policies = [true, false]
  private let composed = "\u{E9}"
  private let decomposed = "e\u{301}"

  @Test(arguments: policies) func spellingsAreTwoKeysOfMemory(policy: Bool) throws {
    for _ in 0..<50 {
      let back = MemoryStorage<String, Int>()
      try checkTwoKeys(HybridStorage(back, keepsWrites: policy, remembersAbsence: true))
      #expect(try back.count() == 0)
      try back.set(1, forKey: composed)
      try back.set(2, forKey: decomposed)
      #expect(try back.value(forKey: composed) == 1 && back.count() == 2)
    }
  }

  @Test(arguments: policies) func spellingsAreTwoKeysOfALog(policy: Bool) throws {
    try withTemporaryStore { store in
      let log = try LogStorage(store, "n", key: String.self, of: Int.self)
      for _ in 0..<50 { try checkTwoKeys(HybridStorage(log, keepsWrites: policy, remembersAbsence: true)) }
    }
  }

  /// The front cannot see that there is a log.
  @Test(arguments: policies) func spellingsAreTwoKeysOfAStorageOverALog(policy: Bool) throws {
    try withTemporaryStore { store in
      let log = try LogStorage(store, "n", key: String.self, of: Int.self)
      let back = OpaqueStorage(base: log)
      for _ in 0..<50 { try checkTwoKeys(HybridStorage(back, keepsWrites: policy, remembersAbsence: true)) }
    }
  }

  private func checkTwoKeys<Back>(_ hybrid: HybridStorage<Back>) throws
  where Back: EnumerableStorage & ClearableStorage, Back.Key == String, Back.Value == Int {
    try hybrid.set(1, forKey: composed)
    #expect(try hybrid.value(forKey: decomposed) == nil && !hybrid.contains(decomposed))
    try hybrid.set(2, forKey: decomposed)
    #expect(try hybrid.value(forKey: composed) == 1 && hybrid.value(forKey: decomposed) == 2)
    try hybrid.set(3, forKey: composed)
    #expect(try hybrid.value(forKey: decomposed) == 2 && hybrid.value(forKey: composed) == 3)
    #expect(try hybrid.count() == 2)
    #expect(try hybrid.removeValue(forKey: composed) && hybrid.value(forKey: decomposed) == 2)
    try hybrid.removeAll()
  }
}

/// Hides what is behind, as a storage of the caller's making does.
private struct OpaqueStorage<Base: UpdatableStorage & EnumerableStorage & ClearableStorage>: UpdatableStorage,
  EnumerableStorage, ClearableStorage
{
  typealias Key = Base.Key
  typealias Value = Base.Value

  let base: Base
  var name: String { base.name }

  func identity(of key: Base.Key) throws(StorageError) -> StorageRequest.Identity { try base.identity(of: key) }

  func read(_ key: Base.Key, _ call: StorageRequest.Read) throws(StorageError) -> Entry<Base.Value>? {
    try base.read(key, call)
  }

  func write(
    _ key: Base.Key,
    _ call: StorageRequest.Write<Base.Value>
  ) throws(StorageError) -> StorageRequest.Receipt {
    try base.write(key, call)
  }

  func forEachEntry(
    onFailure failure: (StorageError) throws(StorageError) -> Void,
    _ body: (Base.Key, Entry<Base.Value>) throws(StorageError) -> Void
  ) throws(StorageError) {
    try base.forEachEntry(onFailure: failure, body)
  }

  func forEachKey(
    onFailure failure: (StorageError) throws(StorageError) -> Void,
    _ body: (Base.Key) throws(StorageError) -> Void
  ) throws(StorageError) { try base.forEachKey(onFailure: failure, body) }

  func count() throws(StorageError) -> Int { try base.count() }

  func removeAll(durability: Durability?) throws(StorageError) { try base.removeAll() }

  func removeExpired() throws(StorageError) -> Int { try base.removeExpired() }
}
