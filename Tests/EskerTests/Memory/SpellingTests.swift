import Esker
import Testing

/// Strings that Swift calls equal but that have other bytes are two keys of a log, and one key of memory or a dictionary.
@Suite struct SpellingTests {
  private static let policies: [WritePolicy] = [.through, .around]
  private let composed = "\u{E9}"
  private let decomposed = "e\u{301}"

  @Test(arguments: policies) func spellingsAreOneKeyWhereTheyAreOneBehind(policy: WritePolicy) throws {
    for _ in 0..<50 {
      let back = MemoryStorage<String, Int>()
      let hybrid = HybridStorage(back, writing: policy, remembersAbsence: true)
      #expect(try hybrid.value(forKey: decomposed) == nil)
      try hybrid.set(1, forKey: composed)
      #expect(try hybrid.contains(decomposed) && hybrid.value(forKey: decomposed) == 1)
      #expect(try hybrid.value(forKey: composed) == 1)
      try hybrid.set(2, forKey: decomposed)
      #expect(try hybrid.value(forKey: composed) == 2 && hybrid.value(forKey: decomposed) == 2)
      try hybrid.set(3, forKey: composed)
      try hybrid.set(4, forKey: decomposed)
      try hybrid.set(5, forKey: composed)
      #expect(try back.value(forKey: composed) == 5 && back.count() == 1)
      #expect(try hybrid.removeValue(forKey: decomposed) && hybrid.value(forKey: composed) == nil)
    }
  }

  @Test(arguments: policies) func spellingsAreTwoKeysOfALog(policy: WritePolicy) throws {
    try withTemporaryStore { store in
      let log = try LogStorage(store, "n", key: String.self, of: Int.self)
      for _ in 0..<50 { try checkTwoKeys(HybridStorage(log, writing: policy, remembersAbsence: true)) }
    }
  }

  /// The front cannot see that there is a log.
  @Test(arguments: policies) func spellingsAreTwoKeysOfAStorageOverALog(policy: WritePolicy) throws {
    try withTemporaryStore { store in
      let log = try LogStorage(store, "n", key: String.self, of: Int.self)
      let back = log.mapValues(to: Int.self) {
        -$0
      } from: {
        -$0
      }
      for _ in 0..<50 { try checkTwoKeys(HybridStorage(back, writing: policy, remembersAbsence: true)) }
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
