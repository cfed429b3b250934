import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// A read-modify-write that changes nothing writes nothing, and still gives what is there the durability asked for.
@Suite struct UnchangedWriteTests {
  private let machine = Machine()

  /// Everything that depends on the value that is there, so that it puts back the same.
  private static let calls: [(name: String, call: @Sendable (LogStore, Durability?) throws -> SequenceNumber?)] = [
    (
      "update",
      { store, durability in
        try store.update(forKey: "k", durability: durability) { (span) throws(StoreError) in
          .put(span?.withUnsafeBytes { [UInt8]($0) } ?? [])
        }
      }
    ),
    (
      "update that may throw anything",
      { store, durability in
        try store.update(forKey: "k", durability: durability) { span in
          if span == nil { throw CancellationError() }
          return .put(bytes("12345678"), expiry: .never)
        }
      }
    ),
    (
      "compareAndSet",
      { store, durability in
        try store.compareAndSet("12345678", forKey: "k", ifValue: bytes("12345678"), durability: durability)
      }
    ),
    (
      "increment",
      { store, durability in
        try store.increment("k", by: 0, durability: durability)
        return try store.metadata(forKey: "k")?.version
      }
    ),
    ("append", { store, durability in try store.append("", toKey: "k", durability: durability) }),
    ("touch", { store, durability in try store.touch("k", expiry: .never, durability: durability) }),
    ("persist", { store, durability in try store.persist("k", durability: durability) }),
  ]

  @Test(arguments: calls.indices) func nothingIsWritten(_ index: Int) throws {
    let (name, call) = Self.calls[index]
    let store = try machine.open()
    let version = try store.put("12345678", forKey: "k")
    let last = try store.put("v", forKey: "other")
    let logged = store.statistics.bytesLogged
    #expect(try call(store, nil) == version, "\(name)")
    #expect(store.lastSequence == last && store.statistics.bytesLogged == logged, "\(name)")
    #expect(store.durableSequence.rawValue == 0, "\(name)")
    #expect(try store.get("k") == bytes("12345678"), "\(name)")
  }

  @Test(arguments: calls.indices) func whatIsThereGetsTheDurabilityAskedFor(_ index: Int) throws {
    let (name, call) = Self.calls[index]
    let store = try machine.open()
    let version = try store.put("12345678", forKey: "k")
    #expect(try call(store, .synced) == version, "\(name)")
    #expect(store.durableSequence >= version, "\(name)")
    let byDefault = try Machine().open { $0.durability = .synced }
    try byDefault.put("12345678", forKey: "k", durability: .buffered)
    _ = try call(byDefault, nil)
    #expect(byDefault.durableSequence == byDefault.lastSequence, "\(name)")
  }

  /// A removal that finds nothing says that the key is gone: for good, if it asks for that.
  @Test func absenceGetsTheDurabilityAskedFor() async throws {
    for isAsync in [false, true] {
      let store = try Machine().open()
      try store.put("v", forKey: "k", durability: .synced)
      try store.remove("k", durability: .buffered)
      #expect(store.durableSequence < store.lastSequence)
      let wasThere =
        isAsync ? try await store.async.remove("k", durability: .synced) : try store.remove("k", durability: .synced)
      #expect(!wasThere && store.durableSequence == store.lastSequence)
      try store.put("v", forKey: "other")
      #expect(try !store.remove("k") && store.durableSequence < store.lastSequence)
    }
  }

  @Test(arguments: calls.indices) func whatRefusesWritesRefusesTheseToo(_ index: Int) throws {
    let (name, call) = Self.calls[index]
    let store = try machine.open()
    try store.put("12345678", forKey: "k", durability: .synced)
    let reader = try machine.open { $0.readOnly = true }
    #expect(throws: StoreError.readOnly, "\(name)") { try call(reader, nil) }
    store.probe.failSync(5)
    #expect(throws: StoreError.syncFailed(errno: 5), "\(name)") { try call(store, nil) }
  }

  @Test(arguments: calls.indices) func aPackedValueIsComparedToo(_ index: Int) throws {
    let (name, call) = Self.calls[index]
    let store = try machine.open { $0.compression = .lz4 }
    let version = try store.put("12345678", forKey: "k")
    for number in 0..<100 { try store.put([UInt8](repeating: 1, count: 900), forKey: "key \(number)") }
    try store.merge()
    let last = store.lastSequence
    #expect(try call(store, .synced) == version, "\(name)")
    #expect(store.lastSequence == last, "\(name)")
  }

  @Test func anotherExpiryIsAChange() throws {
    let store = try machine.open()
    let instant = Expiry.at(WallTime(millisecondsSince1970: machine.clock.wallMilliseconds() + 5_000))
    try store.put("v", forKey: "k")
    #expect(
      try store.update(forKey: "k") { (_) throws(StoreError) in .put(bytes("v"), expiry: instant) }?.rawValue == 2
    )
    #expect(
      try store.update(forKey: "k") { (_) throws(StoreError) in .put(bytes("v"), expiry: instant) }?.rawValue == 2
    )
    #expect(try store.touch("k", expiry: instant)?.rawValue == 2)
    #expect(try store.touch("k", expiry: .after(.seconds(5)))?.rawValue == 2)
    #expect(try store.touch("k", expiry: .after(.seconds(6)))?.rawValue == 3)
    // Without an expiry the default applies: none, so far.
    #expect(try store.update(forKey: "k") { (_) throws(StoreError) in .put(bytes("v")) }?.rawValue == 4)
    #expect(try store.update(forKey: "k") { (_) throws(StoreError) in .put(bytes("v")) }?.rawValue == 4)
    try store.default.setDefaultExpiry(.seconds(1))
    #expect(try store.update(forKey: "k") { (_) throws(StoreError) in .put(bytes("v")) }?.rawValue == 5)
    machine.clock.advance(milliseconds: 1)
    // Its life is longer by a millisecond.
    #expect(try store.update(forKey: "k") { (_) throws(StoreError) in .put(bytes("v")) }?.rawValue == 6)
  }

  @Test func aDifferenceAnywhereIsAChange() throws {
    let store = try machine.open()
    for length in [0, 1, 7, 8, 9, 31, 4_000] {
      let value = [UInt8](repeating: 7, count: length)
      let put = try store.put(value, forKey: "k")
      #expect(try store.update(forKey: "k") { (_) throws(StoreError) in .put(value) } == put)
      var last = put
      for position in [0, length / 2, length - 1] where value.indices.contains(position) {
        var other = try store.get("k") ?? []
        other[position] ^= 1
        let changed = try #require(try store.update(forKey: "k") { (_) throws(StoreError) in .put(other) })
        #expect(changed > last)
        #expect(try store.get("k") == other)
        last = changed
      }
      let longer = try store.update(forKey: "k") { (_) throws(StoreError) in .put(value + [0]) }
      #expect(longer == store.lastSequence && store.lastSequence > last)
    }
  }

  @Test func aPutAndAWriteByVersionAlwaysWrite() throws {
    let store = try machine.open()
    let first = try store.put("v", forKey: "k")
    let second = try store.put("v", forKey: "k")
    #expect(second > first)
    let third = try #require(try store.compareAndSet("v", forKey: "k", ifVersion: second))
    #expect(third > second)
    #expect(try store.compareAndSet("v", forKey: "k", ifVersion: second) == nil)
  }

  @Test func anAbsentKeyIsNotAnEmptyValue() throws {
    let store = try machine.open()
    #expect(try store.update(forKey: "k") { (_) throws(StoreError) in .put([]) }?.rawValue == 1)
    #expect(try store.append("", toKey: "other").rawValue == 2)
    #expect(try store.increment("n", by: 0) == 0)
    #expect(store.lastSequence.rawValue == 3)
    #expect(try store.count() == 3)
  }
}
