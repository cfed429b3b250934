import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

@Suite struct CloseTests {
  @Test func everyOperationThrowsClosedAfterAClose() throws {
    let machine = Machine()
    let store = try machine.open()
    let keyspace = try store.keyspace("other")
    let version = try store.put("v", forKey: "k")
    try keyspace.put("v", forKey: "k")
    try store.close()
    for target in [store.default, keyspace] {
      let operations: [(String, () throws -> Void)] = [
        ("get", { _ = try target.get("k") }),
        ("get absent", { _ = try target.get("absent") }),
        ("get into", { _ = try target.get("k", into: UnsafeMutableRawBufferPointer(start: nil, count: 0)) }),
        ("get many", { _ = try target.get(["k"]) }),
        ("withValue", { _ = try target.withValue(forKey: "k") { (_) throws(StoreError) in 1 } }),
        ("withValues", { try target.withValues(forKeys: ["k"]) { (_, _) throws(StoreError) in } }),
        ("contains", { _ = try target.contains("k") }),
        ("metadata", { _ = try target.metadata(forKey: "k") }),
        ("countExpired", { _ = try target.countExpired() }),
        ("put", { try target.put("v", forKey: "k") }),
        ("put synced", { try target.put("v", forKey: "k", durability: .synced) }),
        ("remove", { try target.remove("k") }),
        ("remove absent", { try target.remove("absent") }),
        ("removeAll", { try target.removeAll() }),
        ("removeExpired", { try target.removeExpired() }),
        ("update", { try target.update(forKey: "k") { (_) throws(StoreError) in .keep } }),
        ("compareAndSet version", { try target.compareAndSet("v", forKey: "k", ifVersion: version) }),
        ("compareAndSet value", { try target.compareAndSet("v", forKey: "k", ifValue: nil) }),
        ("putIfAbsent", { try target.putIfAbsent("v", forKey: "k") }),
        ("increment", { try target.increment("k") }),
        ("append", { try target.append("v", toKey: "k") }),
        ("touch", { try target.touch("k", expiry: .never) }),
        ("persist", { try target.persist("k") }),
        ("setDefaultExpiry", { try target.setDefaultExpiry(.seconds(1)) }),
      ]
      for (name, operation) in operations {
        #expect(throws: StoreError.closed, "\(name) in \(target.name)") { try operation() }
      }
    }
    let operations: [(String, () throws -> Void)] = [
      ("keyspace", { _ = try store.keyspace("other") }),
      ("new keyspace", { _ = try store.keyspace("new") }),
      ("write", { try store.write { (batch) throws(StoreError) in try batch.put("v", forKey: "k") } }),
      ("empty write", { try store.write { (_) throws(StoreError) in } }),
      ("snapshot", { _ = try store.snapshot() }),
      ("sync", { try store.sync() }),
      ("waitDurable", { try store.waitDurable(version) }),
      ("verify", { _ = try store.verify() }),
      ("removeAllExpired", { try store.removeAllExpired() }),
      ("resetClock", { try store.resetClock() }),
      ("refresh", { try store.refresh() }),
    ]
    for (name, operation) in operations {
      #expect(throws: StoreError.closed, "\(name)") { try operation() }
    }
    _ = store.statistics
    #expect(store.keyspaceNames == [])
    try store.close()
  }

  @Test func everyAsyncOperationThrowsClosedAfterAClose() async throws {
    let store = try Machine().open()
    let version = try store.put("v", forKey: "k")
    let twin = store.async
    try store.close()
    await #expect(throws: StoreError.closed) { try await twin.put("v", forKey: "k") }
    await #expect(throws: StoreError.closed) { try await twin.put("v", forKey: "k", durability: .synced) }
    await #expect(throws: StoreError.closed) { _ = try await twin.get("k") }
    await #expect(throws: StoreError.closed) { try await twin.remove("k") }
    await #expect(throws: StoreError.closed) { try await twin.update(forKey: "k") { (_) throws(StoreError) in .keep } }
    await #expect(throws: StoreError.closed) { try await twin.write { (_) throws(StoreError) in } }
    await #expect(throws: StoreError.closed) { try await twin.sync() }
    await #expect(throws: StoreError.closed) { try await twin.waitDurable(version) }
  }

  @Test func closeIsIdempotentAndSaysSoOnce() throws {
    let log = EventLog()
    let machine = Machine()
    let store = try machine.open { $0.onEvent = { log.record($0) } }
    try store.put("v", forKey: "k")
    try store.close()
    try store.close()
    #expect(log.events.filter { $0 == .closed }.count == 1)
  }

  @Test func aDroppedStoreClosesItself() throws {
    let machine = Machine()
    do {
      let store = try machine.open()
      try store.put("v", forKey: "k")
    }
    let log = EventLog()
    let again = try machine.open { $0.onEvent = { log.record($0) } }
    #expect(try again.get("k") == bytes("v"))
    #expect(log.opening?.wasClean == true)
    #expect(log.opening?.indexSource == .checkpoint)
  }

  @Test func aKeyspaceKeepsItsStoreOpen() throws {
    let machine = Machine()
    let keyspace = try machine.open().keyspace("k")
    try keyspace.put("v", forKey: "k")
    #expect(try keyspace.get("k") == bytes("v"))
    #expect(throws: StoreError.locked(path: machine.path, holder: 4711)) { try machine.open() }
  }

  @Test func aCloseOfAnUnwrittenStoreLeavesNoSegments() throws {
    let machine = Machine()
    try machine.open().close()
    #expect(try machine.files(".segment") == [])
    let again = try machine.open()
    #expect(again.totalCount == 0)
    try again.put("v", forKey: "k")
    #expect(try again.get("k") == bytes("v"))
  }

  @Test func aCleanCloseGivesUnusedSpaceBack() throws {
    let machine = Machine()
    let store = try machine.open { $0.segmentSize = 1 << 20 }
    for number in 0..<10 { try store.put("value", forKey: "key \(number)") }
    try store.close()
    let segment = try #require(try machine.files(".segment").first)
    let size = try #require(try machine.disk.status(segment)?.size)
    #expect(size <= 4096)
  }
}
