import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

@Suite struct WriteWatcherTests {
  /// Notes what it is told.
  private final class Notes: WriteWatcher {
    private let list = Guarded<[String]>([])

    var told: [String] {
      list.withLock { list in
        defer { list = [] }
        return list
      }
    }

    private func note(_ what: String, _ key: RawSpan) {
      let text = key.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
      list.withLock { $0.append("\(what) \(text)") }
    }

    func willWrite(_ key: RawSpan) { note("will", key) }
    func didWrite(_ key: RawSpan, _ sequence: UInt64?) { note("did", key) }
    func willEmpty() { list.withLock { $0.append("will empty") } }
    func didEmpty() { list.withLock { $0.append("did empty") } }
    func afterEmptying() { list.withLock { $0.append("after") } }
    func didEnd() { list.withLock { $0.append("ended") } }
  }

  private let machine = Machine()

  @Test func everyWriteIsToldOnceBeforeAndAfter() throws {
    let store = try machine.open()
    let notes = Notes()
    store.default.addWatcher(notes)
    let both = ["will k", "did k"]
    try store.put("1", forKey: "k")
    #expect(notes.told == both)
    try store.update(forKey: "k") { _ in .put(bytes("2")) }
    #expect(notes.told == both)
    try store.compareAndSet("3", forKey: "k", ifVersion: store.lastSequence)
    #expect(notes.told == both)
    try store.append("4", toKey: "k")
    #expect(notes.told == both)
    try store.touch("k", expiry: .after(.seconds(5)))
    #expect(notes.told == both)
    try store.remove("k")
    #expect(notes.told == both)
    try store.increment("n", by: 1)
    #expect(notes.told == ["will n", "did n"])
    try store.removeAll()
    #expect(notes.told == ["will empty", "did empty", "after"])
  }

  @Test func whatWritesNothingIsNotTold() throws {
    let store = try machine.open()
    let notes = Notes()
    store.default.addWatcher(notes)
    try store.remove("never there")
    try store.keyspace("other").put("v", forKey: "k")
    #expect(notes.told.isEmpty)
    store.default.removeWatcher(notes)
    try store.put("v", forKey: "k")
    #expect(notes.told.isEmpty)
  }

  @Test func aBatchIsToldAsAWhole() throws {
    let store = try machine.open()
    let other = try store.keyspace("other")
    try store.put("v", forKey: "b")
    let notes = Notes()
    let others = Notes()
    store.default.addWatcher(notes)
    other.addWatcher(others)
    try store.write { (batch) throws(StoreError) in
      try batch.put("1", forKey: "a")
      try batch.put("1", forKey: "a", in: other)
      try batch.remove("b")
    }
    #expect(notes.told == ["will a", "will b", "did a", "did b"])
    #expect(others.told == ["will a", "did a"])
  }

  @Test func aWriteThatFailsIsToldToHaveEnded() throws {
    let machine = Machine(capacity: 1 << 20)
    let store = try machine.open { $0.merge.isAutomatic = false }
    let notes = Notes()
    store.default.addWatcher(notes)
    #expect(throws: StoreError.self) {
      while true { try store.put([UInt8](repeating: 1, count: 10_000), forKey: "k") }
    }
    let told = notes.told
    #expect(told.count { $0 == "will k" } == told.count { $0 == "did k" })
  }

  @Test func evictionIsToldKeyByKey() throws {
    let store = try machine.open { $0.capacity = 1 << 20 }
    let notes = Notes()
    store.default.addWatcher(notes)
    for number in 0..<1_500 { try store.put([UInt8](repeating: 1, count: 900), forKey: "key \(number)") }
    let told = notes.told
    let evicted = (0..<1_500).filter { number in (try? store.contains("key \(number)")) != true }
    #expect(evicted.count > 400)
    for number in evicted {
      #expect(told.count { $0 == "will key \(number)" } == 2)
      #expect(told.count { $0 == "did key \(number)" } == 2)
    }
    #expect(told.count == 2 * (1_500 + evicted.count))
  }
}
