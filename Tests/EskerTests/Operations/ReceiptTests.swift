import Esker
import EskerTestSupport
import Testing

/// What writes say that they did: the same of a log, of memory and of a storage of the caller's own.
@Suite struct ReceiptTests {
  private typealias Write = StorageRequest.Write<Int>

  private func inEach(_ body: (any UpdatableStorage<String, Int>) throws -> Void) throws {
    try withTemporaryStore { store in
      let kept = DictionaryStorage<String, Int>()
      let custom = CustomStorage<String, Int>(name: "custom") {
        try kept.value(forKey: $0)
      } set: { value, key in
        if let value { try kept.set(value, forKey: key) } else { try kept.removeValue(forKey: key) }
      }
      for storage: any UpdatableStorage<String, Int> in [
        try LogStorage(store, "n", key: String.self, of: Int.self), MemoryStorage<String, Int>(), custom,
      ] { try body(storage) }
    }
  }

  @Test func aRemovalLeavesNoVersion() throws {
    try inEach { storage in
      #expect(try storage.write("a", Write(.set(1))).version != nil)
      let removal = try storage.write("a", Write(.remove))
      #expect(removal.isDone && removal.wasThere && removal.version == nil, "\(storage.name)")
      let again = try storage.write("a", Write(.remove))
      #expect(again.isDone && !again.wasThere && again.version == nil, "\(storage.name)")
    }
  }

  @Test func aConditionThatDoesNotHoldTellsThatAValueIsThere() throws {
    try inEach { storage in
      let old = try #require(try storage.write("a", Write(.set(1))).version)
      try storage.set(2, forKey: "a")
      for write in [
        Write(.remove, if: .version(old)), Write(.remove, if: .absent),
        Write(.touch, if: .version(old), expiry: .never),
        Write(.extend, if: .version(old), expiry: .never),
      ] {
        if case .extend = write.action, storage is LogStorage<String, Int> { continue }
        let receipt = try storage.write("a", write)
        #expect(!receipt.isDone && receipt.wasThere && receipt.version == nil, "\(storage.name): \(write)")
      }
      #expect(try storage.value(forKey: "a") == 2)
      let absent = try storage.write("b", Write(.remove, if: .absent))
      #expect(absent.isDone && !absent.wasThere, "\(storage.name)")
    }
  }
}
