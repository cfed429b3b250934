import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

@Suite struct BatchTests {
  var machine = Machine()
  let store: LogStore

  init() throws {
    store = try machine.open()
  }

  @Test func aBatchTakesEffectAsAWhole() throws {
    try store.put("old", forKey: "gone")
    let other = try store.keyspace("other")
    let answer = try store.write { (batch) throws(StoreError) -> Int in
      try batch.put("1", forKey: "a")
      try batch.put("2", forKey: "b", in: other, expiry: .after(.seconds(1)))
      try batch.remove("gone")
      try batch.remove("never")
      #expect(try store.get("a") == nil)
      return batch.count
    }
    #expect(answer == 4)
    #expect(try store.get("a") == bytes("1"))
    #expect(try other.get("b") == bytes("2"))
    #expect(try store.get("b") == nil)
    #expect(try store.get("gone") == nil)
    #expect(try store.totalCount() == 2)
    machine.clock.advance(milliseconds: 1000)
    #expect(try other.get("b") == nil)
  }

  @Test func laterOperationsOnTheSameKeyWin() throws {
    try store.write { (batch) throws(StoreError) in
      try batch.put("1", forKey: "a")
      try batch.put("2", forKey: "a")
      try batch.remove("b")
      try batch.put("3", forKey: "b")
      try batch.put("4", forKey: "c")
      try batch.remove("c")
      try batch.put("5", forKey: "d")
      try batch.remove("d")
      try batch.put("6", forKey: "d")
    }
    func check(_ store: LogStore) throws {
      #expect(try store.get("a") == bytes("2"))
      #expect(try store.get("b") == bytes("3"))
      #expect(try store.get("c") == nil)
      #expect(try store.get("d") == bytes("6"))
      #expect(try store.count() == 3)
      let figures = try store.expectConsistentFigures()
      #expect(figures.live == figures.recount)
    }
    try check(store)
    try store.close()
    try check(try machine.open())
  }

  @Test func aBodyThatThrowsDiscardsTheBatch() throws {
    struct Foreign: Error {}
    #expect(throws: Foreign.self) {
      try store.write { batch in
        try batch.put("1", forKey: "a")
        throw Foreign()
      }
    }
    #expect(throws: StoreError.cancelled) {
      try store.write { (batch) throws(StoreError) in
        try batch.put("1", forKey: "a")
        throw .cancelled
      }
    }
    #expect(try store.get("a") == nil)
    #expect(store.lastSequence.rawValue == 0)
  }

  @Test func anOperationThatFailsLeavesTheRestOfTheBatch() throws {
    try store.write { (batch) throws(StoreError) in
      try batch.put("1", forKey: "a")
      #expect(throws: StoreError.keyTooLong(70_000)) {
        try batch.put("x", forKey: [UInt8](repeating: 0, count: 70_000))
      }
      #expect(batch.count == 1)
      try batch.put("2", forKey: "b")
    }
    #expect(try store.get("a") == bytes("1"))
    #expect(try store.get("b") == bytes("2"))
  }

  /// More operations than are on their way at a time, in keyspaces that come and go, on keys that are there, absent, or in the batch already.
  @Test func manyOperationsInSeveralKeyspacesAreAllDone() throws {
    var generator = SeededGenerator(announcedFor: "BatchTests")
    let keyspaces = try (0..<3).map { try store.keyspace("\($0)") }
    var expected = keyspaces.map { _ in [[UInt8]: [UInt8]]() }
    for round in 0..<40 {
      try store.write { (batch) throws(StoreError) in
        var number = 0
        for operation in 0..<Int.random(in: 1..<200, using: &generator) {
          if generator.oneIn(4) { number = Int.random(in: 0..<3, using: &generator) }
          let key = bytes("key \(Int.random(in: 0..<100, using: &generator))")
          let value = generator.oneIn(3) ? nil : bytes("\(round) \(operation)")
          expected[number][key] = value
          if let value {
            try batch.put(value, forKey: key, in: keyspaces[number])
          } else {
            try batch.remove(key, in: keyspaces[number])
          }
        }
      }
      // What was discarded leaves nothing to the next one.
      try? store.write { (batch) throws(StoreError) in
        try batch.put("discarded", forKey: "key 1")
        throw .closed
      }
      let snapshot = try store.snapshot()
      for number in 0..<3 { #expect(try snapshot.contents(of: "\(number)") == expected[number]) }
      #expect(try store.contents().isEmpty)
    }
    let figures = try store.expectConsistentFigures()
    #expect(figures.live == figures.recount)
    try store.close()
    let snapshot = try machine.open().snapshot()
    for number in 0..<3 { #expect(try snapshot.contents(of: "\(number)") == expected[number]) }
  }

  @Test func aNestedWriteIsABatchOfItsOwn() throws {
    try store.write { (outer) throws(StoreError) in
      try outer.put("outer", forKey: "k")
      try store.write { (inner) throws(StoreError) in
        try inner.put("inner", forKey: "k")
        try inner.put("inner", forKey: "only")
      }
      #expect(try store.get("k") == bytes("inner"))
    }
    #expect(try store.get("k") == bytes("outer"))
    #expect(try store.get("only") == bytes("inner"))
  }

  @Test func anEmptyBatchWritesNothing() throws {
    try store.write { (_) throws(StoreError) in }
    try store.write(durability: .synced) { (_) throws(StoreError) in }
    #expect(store.lastSequence.rawValue == 0)
  }

  @Test func aBatchLargerThanASegmentStaysInOnePiece() throws {
    try store.put("before", forKey: "k")
    try store.write { (batch) throws(StoreError) in
      for number in 0..<100 { try batch.put([UInt8](repeating: 1, count: 3000), forKey: "key \(number)") }
    }
    try store.put("after", forKey: "k")
    #expect(try store.count() == 101)
    let large = store.statistics.segments.first { $0.recordBytes > 300_000 }
    #expect(large != nil)
    var machine = machine
    let again = try machine.reopenAfterKill()
    #expect(try again.count() == 101)
    #expect(try again.get("k") == bytes("after"))
    #expect(try again.get("key 99")?.count == 3000)
  }

  @Test func tooLargeABatchIsATypedErrorBeforeAnythingIsWritten() throws {
    // Beyond the limit by number of operations alone would need gigabytes; the bound counts operations at 64 bytes.
    let key = [UInt8](repeating: 1, count: 8)
    var batch = WriteBatch(defaultKeyspace: store.core)
    try batch.put("v", forKey: key)
    let template = batch.operations[0]
    batch.operations = Array(repeating: template, count: LogStore.maximumBatchLength / 64)
    #expect {
      try batch.put("v", forKey: key)
    } throws: { error in
      guard case StoreError.batchTooLarge(let length) = error else { return false }
      return length > LogStore.maximumBatchLength
    }
    #expect(batch.operations.count == LogStore.maximumBatchLength / 64)
  }

  /// At each moment before and after a record of it is published.
  @Test func itsLastNumberIsTheFirstThatIsVisible() throws {
    let opened = Guarded<LogStore?>(nil)
    let seen = Guarded<Set<UInt64>>([])
    let machine = Machine()
    var host = machine.host
    host.onPublish = {
      guard let store = opened.withLock({ $0 }) else { return }
      let last = store.lastSequence.rawValue
      seen.withLock { _ = $0.insert(last) }
    }
    let store = try LogStore(at: machine.path, options: machine.options(), host: host)
    opened.withLock { $0 = store }
    for number in 0..<2 { try store.putBatch("\(number)", ["a", "b", "c"]) }
    opened.withLock { $0 = nil }
    #expect(seen.withLock { $0 } == [0, 3])
    #expect(store.lastSequence.rawValue == 6)
  }

  @Test func noNumberAmidABatchIsEverTheLast() throws {
    let store = store
    let isDone = SharedFlag()
    let errors = try onThreads(2) { thread in
      guard thread == 0 else {
        while !isDone.isRaised {
          if store.lastSequence.rawValue % 20 != 0 { throw StoreError.cancelled }
        }
        return
      }
      defer { isDone.raise() }
      for round in 0..<2_000 {
        try store.write { (batch) throws(StoreError) in
          for key in 0..<20 { try batch.put("\(round)", forKey: "\(key)") }
        }
      }
    }
    #expect(errors.isEmpty)
  }

  @Test func aSyncedBatchIsDurableOnReturn() throws {
    try store.write(durability: .synced) { (batch) throws(StoreError) in
      try batch.put("1", forKey: "a")
      try batch.put("2", forKey: "b")
    }
    #expect(store.durableSequence == store.lastSequence)
    var generator = SeededGenerator(seed: 1)
    var image = machine
    image.disk = try machine.disk.crashImage(.drop, using: &generator)
    #expect(try image.open().contents() == [bytes("a"): bytes("1"), bytes("b"): bytes("2")])
  }
}
