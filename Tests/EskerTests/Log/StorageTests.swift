import Esker
import Foundation
import Testing

@Suite struct StorageTests {
  @Test func erasedStorageDoesWhatItsBaseDoes() throws {
    let base = MemoryStorage<String, Int>(name: "base")
    try base.set(1, forKey: "a")
    let storage = Storage(base)
    #expect(try storage.name == "base" && storage.identity(of: "a") == base.identity(of: "a"))
    #expect(try storage.value(forKey: "a") == 1)
    try storage.set(2, forKey: "b", expiry: .after(.seconds(1)))
    #expect(try base.value(forKey: "b") == 2)
    #expect(try storage.update(forKey: "b") { $0.map { $0 * 10 } } == 20)
    #expect(try storage.count() == 2)
    #expect(try storage.keys().sorted() == ["a", "b"])
    #expect(try storage.removeValue(forKey: "a"))
    try storage.removeAll()
    #expect(try base.count() == 0)
  }

  @Test func memoryHasNoOtherViewsOfItsBytes() throws {
    let storage = Storage(MemoryStorage<String, Int>(name: "void"))
    guard case .unsupported(_, "void") = failure(of: { try storage.transform(to: .utf8) }) else {
      Issue.record("another error")
      return
    }
  }

  @Test func twoFunctionsAreABack() throws {
    struct Broken: Error {}
    let content = Collected<(String, Int?)>()
    let storage = CustomStorage<String, Int>(
      name: "mine",
      get: { key in
        if key == "broken" { throw Broken() }
        return content.all.last { $0.0 == key }?.1
      },
      set: { value, key in content.add((key, value)) }
    )
    try storage.set(1, forKey: "a")
    #expect(try storage.entry(forKey: "a")?.origin == .back)
    #expect(try storage.update(forKey: "a", default: 0) { $0 += 1 } == 2)
    #expect(try storage.removeValue(forKey: "a"))
    #expect(try storage.value(forKey: "a") == nil)
    guard case .back("mine", let underlying) = failure(of: { try storage.value(forKey: "broken") }) else {
      Issue.record("another error")
      return
    }
    #expect(underlying is Broken)
  }

  @Test func updatesOfATwoFunctionBackAreSerialised() throws {
    let content = DictionaryStorage<String, Int>()
    let storage = CustomStorage<String, Int>(
      name: "mine",
      get: { try content.value(forKey: $0) },
      set: { value, key in try content.set(value ?? 0, forKey: key) }
    )
    onThreads(8) { _ in
      for _ in 0..<500 {
        _ = try? storage.update(forKey: "a", default: 0) { value in
          sched_yield()
          value += 1
        }
      }
    }
    #expect(content.all == ["a": 4000])
  }
}
