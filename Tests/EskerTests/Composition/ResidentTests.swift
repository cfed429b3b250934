import Esker
import Testing

/// Asynchronous reads are answered from memory without changing threads only if every wrapper passes the question on.
@Suite struct ResidentTests {
  private func answers<S: ReadableStorage>(
    _ storage: S,
    _ base: DictionaryStorage<String, Int>,
    _ key: S.Key
  ) async throws -> Bool {
    let before = (base.residentReads, base.reads)
    guard case .present = try storage.residentEntry(forKey: key), base.residentReads == before.0 + 1,
      try await storage.async.value(forKey: key) != nil
    else { return false }
    return base.reads == before.1
  }

  @Test func everyWrapperPassesTheQuestionOn() async throws {
    let base = DictionaryStorage(["a": 1], mayBlock: true)
    #expect(try await answers(base, base, "a"))
    #expect(try await answers(Storage(base), base, "a"))
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
    #expect(try await answers(base.serialized(), base, "a"))
    #expect(try await answers(base.combined(with: EmptyStorage()), base, "a"))
    #expect(try await answers(EmptyStorage().combined(with: base), base, "a"))
    #expect(try await answers(base.backed(by: EmptyStorage()), base, "a"))
    #expect(try await answers(EmptyStorage().backed(by: base), base, "a"))
    #expect(try await answers(base.readOnly().backed(by: EmptyStorage()), base, "a"))
    #expect(try await answers(base.pushing(to: EmptyStorage()), base, "a"))
    let other = DictionaryStorage(["a": 2])
    #expect(try await answers(zip(base, other), base, "a"))
    #expect(try await answers(zip(base, other, other), base, "a"))
    #expect(try await answers(zip(base.readOnly(), other, other), base, "a"))
    #expect(try await answers(base.readOnly().mapKeys { (key: Character) in String(key) }, base, "a"))
  }

  @Test func absenceThatMemoryKnowsIsPassedOnToo() async throws {
    let base = DictionaryStorage(["a": 1], mayBlock: true)
    let other = DictionaryStorage(["b": 2])
    for storage in [
      Storage(
        zip(base, other).mapValues {
          $0.0
        } from: {
          ($0, $0)
        }.serialized()
      ),
      Storage(
        zip(base, other, other).mapValues {
          $0.0
        } from: {
          ($0, $0, $0)
        }.serialized()
      ),
    ] {
      let before = base.reads
      #expect(try await storage.async.value(forKey: "a") == nil)
      #expect(try await !storage.async.contains("a"))
      #expect(base.reads == before)
    }
  }

  @Test func singleKeyPassesTheQuestionOn() throws {
    let base = DictionaryStorage(["a": 1])
    guard case .present(let entry) = try base.singleKey("a").residentEntry(forKey: ()) else {
      Issue.record("not passed on")
      return
    }
    #expect(entry.value == 1)
  }

  @Test func wrappersSayWhetherTheirBaseWaits() throws {
    for waits in [true, false] {
      let base = DictionaryStorage(["a": 1], mayBlock: waits)
      #expect(Storage(base).mayBlock == waits)
      #expect(
        base.mapValues {
          $0
        } from: {
          $0
        }.mayBlock == waits
      )
      #expect(base.mapKeys { (key: String) in key }.mayBlock == waits)
      #expect(base.validate { _ in true }.mayBlock == waits)
      #expect(base.readOnly().mayBlock == waits && base.writeOnly().mayBlock == waits)
      #expect(base.defaulting(to: 0).mayBlock == waits && base.fallback { _, _ in 0 }.mayBlock == waits)
      #expect(base.renaming(to: "x").mayBlock == waits && base.tap { _ in }.mayBlock == waits)
      #expect(base.combined(with: DictionaryStorage()).mayBlock == waits)
      #expect(DictionaryStorage().backed(by: base).mayBlock == waits)
      #expect(base.pushing(to: DictionaryStorage()).mayBlock == waits)
      #expect(zip(DictionaryStorage<String, Int>(), base).mayBlock == waits)
    }
  }
}
