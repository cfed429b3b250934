import Esker
import Testing

/// Asynchronous reads are answered from memory without changing threads only if every wrapper passes the question on.
@Suite struct HeldTests {
  private func answers<S: ReadableStorage>(
    _ storage: S,
    _ base: DictionaryStorage<String, Int>,
    _ key: S.Key
  ) async throws -> Bool {
    let before = (base.heldReads, base.reads)
    guard case .entry = try storage.held(key, StorageRequest.Read()), base.heldReads == before.0 + 1,
      try await storage.async.value(forKey: key) != nil
    else { return false }
    return base.reads == before.1
  }

  @Test func everyWrapperPassesTheQuestionOn() async throws {
    let base = DictionaryStorage(["a": 1], mayBlock: true)
    #expect(try await answers(base, base, "a"))
    #expect(try await answers(PartialStorage(base), base, "a"))
    #expect(
      try await answers(
        base.mapValues {
          "\($0)"
        } from: {
          Int($0) ?? 0
        },
        base,
        "a"
      )
    )
    #expect(try await answers(base.mapValues(to: Int.self) { $0 + 1 }, base, "a"))
    #expect(try await answers(base.mapKeys { (key: Character) in String(key) }, base, "a"))
    #expect(try await answers(base.validate { $0 == 1 }, base, "a"))
    #expect(try await answers(base.readOnly(), base, "a"))
    #expect(try await answers(base.defaulting(to: 0), base, "a"))
    #expect(try await answers(base.fallback { _, _ in 0 }, base, "a"))
    #expect(try await answers(base.renaming(to: "x"), base, "a"))
    #expect(try await answers(base.tap { _ in }, base, "a"))
    #expect(try await answers(base.combined(with: EmptyStorage()), base, "a"))
    #expect(try await answers(EmptyStorage().combined(with: base, pullStrategy: .neverPull), base, "a"))
    #expect(try await answers(base.backed(by: EmptyStorage()), base, "a"))
    #expect(try await answers(EmptyStorage().backed(by: base, pullStrategy: .neverPull), base, "a"))
    #expect(try await answers(base.readOnly().fallback(with: EmptyStorage()), base, "a"))
    #expect(try await answers(base.pushing(to: EmptyStorage()), base, "a"))
    let other = DictionaryStorage(["a": 2])
    #expect(try await answers(zip(base, other), base, "a"))
    #expect(try await answers(zip(base, other, other), base, "a"))
    #expect(try await answers(zip(base.readOnly(), other, other), base, "a"))
    #expect(try await answers(base.readOnly().mapKeys { (key: Character) in String(key) }, base, "a"))
  }

  @Test func absenceThatMemoryKnowsIsPassedOnToo() async throws {
    let base = DictionaryStorage(["a": 1])
    let other = DictionaryStorage(["b": 2])
    let before = base.reads
    #expect(try await zip(base, other).async.value(forKey: "c") == nil)
    #expect(try await !zip(base, other, other).async.contains("c"))
    #expect(base.reads == before)
  }

  @Test func singleKeyPassesTheQuestionOn() throws {
    let base = DictionaryStorage(["a": 1])
    guard case .entry(let entry) = try base.singleKey("a").held((), StorageRequest.Read()) else {
      Issue.record("not passed on")
      return
    }
    #expect(entry.value == 1)
  }
}
