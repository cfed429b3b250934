import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

@Suite struct ListenerTests {
  /// Notes what it hears as text.
  private final class Notes: ChangeListener {
    private let list = Guarded<[String]>([])

    var heard: [String] {
      list.withLock { list in
        defer { list = [] }
        return list
      }
    }

    func receive(_ key: [UInt8]?, _ change: () -> KeyspaceChange) {
      let change = Self.describe(change())
      list.withLock { $0.append(change) }
    }

    func didEnd(_ error: StoreError) {
      list.withLock { $0.append("ended: \(error)") }
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    private static func text(_ before: KeyspaceChange.Before?) -> String {
      switch before {
      case .success(let bytes): text(bytes)
      case .failure: "?"
      case nil: "-"
      }
    }

    private static func describe(_ change: KeyspaceChange) -> String {
      switch change {
      case .put(let key, let before, let after): "\(text(key)): \(text(before)) > \(text(after))"
      case .loss(let key, let before, let cause): "\(text(key)): \(text(before)) \(cause)"
      case .emptied: "emptied"
      }
    }
  }

  private let machine = Machine()

  @Test func everyKindOfWriteIsHeardOnceWithTheBytesBeforeAndAfter() throws {
    let store = try machine.open()
    let notes = Notes()
    try store.default.addListener(notes)
    try store.put("1", forKey: "k")
    try store.update(forKey: "k") { _ in .put(bytes("2")) }
    try store.compareAndSet("3", forKey: "k", ifVersion: store.lastSequence)
    try store.append("4", toKey: "k")
    try store.touch("k", expiry: .after(.seconds(5)))
    try store.persist("k")
    try store.putIfAbsent("5", forKey: "k")
    try store.compareAndSet("5", forKey: "k", ifVersion: nil)
    try store.remove("k")
    try store.remove("k")
    try store.putIfAbsent("5", forKey: "k")
    try store.removeAll()
    let expected = [
      "k: - > 1", "k: 1 > 2", "k: 2 > 3", "k: 3 > 34", "k: 34 > 34", "k: 34 > 34", "k: 34 removal", "k: - > 5",
      "emptied",
    ]
    #expect(notes.heard == expected)
    store.default.removeListener(notes)
    try store.put("6", forKey: "k")
    #expect(notes.heard.isEmpty)
  }

  @Test func eachWriteOfABatchIsHeardInItsOrder() throws {
    let store = try machine.open()
    let other = try store.keyspace("other")
    let notes = Notes()
    let others = Notes()
    try store.default.addListener(notes)
    try other.addListener(others)
    try store.write { (batch) throws(StoreError) in
      try batch.put("1", forKey: "a")
      try batch.put("2", forKey: "a")
      try batch.put("1", forKey: "a", in: other)
      try batch.remove("a")
      try batch.remove("b")
      try batch.put("3", forKey: "a")
    }
    #expect(notes.heard == ["a: - > 1", "a: 1 > 2", "a: 2 removal", "a: - > 3"])
    #expect(others.heard == ["a: - > 1"])
  }

  @Test func valueWhoseTimeIsOverHasExpiredBeforeTheKeyIsWrittenOrRemoved() throws {
    let store = try machine.open()
    let notes = Notes()
    try store.default.addListener(notes)
    for key in ["put", "removed", "reaped"] { try store.put("1", forKey: key, expiry: .after(.seconds(5))) }
    machine.clock.advance(milliseconds: 5000)
    #expect(notes.heard.count == 3)
    try store.put("2", forKey: "put")
    try store.remove("removed")
    try store.removeExpired()
    #expect(notes.heard == ["put: 1 expiry", "put: - > 2", "removed: 1 expiry", "reaped: 1 expiry"])
  }

  @Test(arguments: [Options.Compression.off, .lz4]) func mergesTellWhatExpiredAndNothingElse(
    _ compression: Options.Compression
  ) throws {
    let store = try machine.open { $0.compression = compression }
    for number in 0..<2000 {
      try store.put("value \(number)", forKey: "key \(number)", expiry: .after(.seconds(number % 2 == 0 ? 5 : 5000)))
    }
    try store.merge()
    let notes = Notes()
    try store.default.addListener(notes)
    try store.merge()
    #expect(notes.heard.isEmpty)
    // Replaced where it is packed.
    try store.put("new", forKey: "key 1")
    #expect(notes.heard == ["key 1: value 1 > new"])
    machine.clock.advance(milliseconds: 5000)
    try store.merge()
    #expect(notes.heard.sorted() == (0..<1000).map { "key \(2 * $0): value \(2 * $0) expiry" }.sorted())
  }

  @Test func valueThatCannotBeReadIsSaidToBeSo() throws {
    let store = try machine.open()
    try store.put("intact", forKey: "k")
    let notes = Notes()
    try store.default.addListener(notes)
    try store.damage(bytes("intact"))
    try store.put("new", forKey: "k")
    #expect(notes.heard == ["k: ? > new"])
  }

  @Test func listenersAreToldOnceThatNothingFollows() throws {
    let store = try machine.open()
    let gone = try store.keyspace("gone")
    let (notes, others) = (Notes(), Notes())
    try gone.addListener(notes)
    try store.default.addListener(others)
    try gone.put("1", forKey: "k")
    try store.removeKeyspace("gone")
    let error = StoreError.keyspaceRemoved("gone")
    #expect(notes.heard == ["k: - > 1", "emptied", "ended: \(error)"])
    #expect(throws: error) { try gone.addListener(notes) }
    // Another one, of which it hears nothing.
    try store.keyspace("gone").put("2", forKey: "k")
    try store.close()
    #expect(notes.heard.isEmpty)
    #expect(others.heard == ["ended: \(StoreError.closed)"])
    #expect(throws: StoreError.closed) { try store.default.addListener(others) }
  }

  @Test func storeOpenForReadingOnlyCannotBeListenedTo() throws {
    let store = try machine.open()
    let reader = try machine.open { $0.readOnly = true }
    #expect(throws: StoreError.readOnly) { try reader.default.addListener(Notes()) }
    try reader.close()
    try store.close()
  }
}

extension LogStore {
  /// Changes a byte of the first record that has these bytes, where it is mapped.
  fileprivate func damage(_ bytes: [UInt8]) throws {
    for segment in probe.segments.compactMap({ probe.hold($0.id) }) {
      guard let offset = segment.offset(of: bytes) else { continue }
      return segment.store(bytes[0] ^ 1, at: offset)
    }
    Issue.record("no record has the bytes")
  }
}
