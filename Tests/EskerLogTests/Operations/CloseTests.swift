import EskerPlatform
import EskerTestSupport
import EskerTools
import Testing

@testable import EskerLog

/// Hears nothing.
private final class DeafListener: ChangeListener {
  func receive(_ key: [UInt8]?, _ change: () -> KeyspaceChange) {}
}

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
        ("get none", { _ = try target.get([String]()) }),
        ("get extending", { _ = try target.get("k", extendingBy: .seconds(1)) }),
        ("withEntry", { _ = try target.withEntry(forKey: "k") { (_, _) throws(StoreError) in 1 } }),
        ("count", { _ = try target.count() }),
        ("remove version", { try target.remove("k", ifVersion: version) }),
        ("listen", { try target.addListener(DeafListener()) }),
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
      ("usage", { _ = try store.usage() }),
      ("merge", { try store.merge() }),
      ("merge none", { try store.merge(segments: []) }),
      ("backup", { try store.backup(to: "/backup") }),
      ("planBackup", { _ = try store.planBackup(to: "/backup") }),
      ("export", { try store.exportStream { _ in } }),
      ("keyspaceNames", { _ = try store.keyspaceNames }),
      ("totalCount", { _ = try store.totalCount() }),
    ]
    for (name, operation) in operations {
      #expect(throws: StoreError.closed, "\(name)") { try operation() }
    }
    // What cannot throw shows the end of the store's life.
    #expect(store.statistics.keys == 0 && store.statistics.segments.isEmpty)
    #expect(store.lastSequence.rawValue == 2 && store.durableSequence == store.lastSequence)
    #expect(store.path == machine.path && keyspace.name == "other" && keyspace.defaultExpiry == nil)
    store.pauseMerging()
    store.resumeMerging()
    #expect(try machine.disk.list("/") == ["store"])
    try store.close()
  }

  @Test func everyReadThrowsClosedInAReadOnlyStoreToo() throws {
    let machine = Machine()
    let writer = try machine.open()
    try writer.put("v", forKey: "k")
    let reader = try machine.open { $0.readOnly = true }
    #expect(try reader.count() == 1)
    try reader.close()
    let operations: [(String, () throws -> Void)] = [
      ("get", { _ = try reader.get("k") }),
      ("get none", { _ = try reader.get([String]()) }),
      ("count", { _ = try reader.count() }),
      ("totalCount", { _ = try reader.totalCount() }),
      ("countExpired", { _ = try reader.countExpired() }),
      ("keyspaceNames", { _ = try reader.keyspaceNames }),
      ("keyspace", { _ = try reader.keyspace("k") }),
      ("snapshot", { _ = try reader.snapshot() }),
      ("refresh", { try reader.refresh() }),
      ("verify", { _ = try reader.verify() }),
      ("usage", { _ = try reader.usage() }),
      ("put", { try reader.put("v", forKey: "k") }),
    ]
    for (name, operation) in operations {
      #expect(throws: StoreError.closed, "\(name)") { try operation() }
    }
  }

  @Test func everyAsyncOperationThrowsClosedAfterAClose() async throws {
    let store = try Machine().open()
    let version = try store.put("v", forKey: "k")
    let twin = store.async
    try store.close()
    await #expect(throws: StoreError.closed) { try await twin.put("v", forKey: "k") }
    await #expect(throws: StoreError.closed) { try await twin.put("v", forKey: "k", durability: .synced) }
    await #expect(throws: StoreError.closed) { _ = try await twin.get("k") }
    await #expect(throws: StoreError.closed) { _ = try await twin.get(["k"]) }
    await #expect(throws: StoreError.closed) { _ = try await twin.get([String]()) }
    await #expect(throws: StoreError.closed) { _ = try await twin.contains("k") }
    await #expect(throws: StoreError.closed) { _ = try await twin.metadata(forKey: "k") }
    await #expect(throws: StoreError.closed) { try await twin.removeExpired() }
    await #expect(throws: StoreError.closed) { try await twin.removeAllExpired() }
    await #expect(throws: StoreError.closed) { try await twin.removeKeyspace("other") }
    #expect(throws: StoreError.closed) { try store.removeKeyspace("other") }
    await #expect(throws: StoreError.closed) { try await twin.remove("k") }
    await #expect(throws: StoreError.closed) { try await twin.update(forKey: "k") { (_) throws(StoreError) in .keep } }
    await #expect(throws: StoreError.closed) { try await twin.removeAll() }
    await #expect(throws: StoreError.closed) { try await twin.compareAndSet("v", forKey: "k", ifVersion: version) }
    await #expect(throws: StoreError.closed) { try await twin.compareAndSet("v", forKey: "k", ifValue: bytes("v")) }
    await #expect(throws: StoreError.closed) { try await twin.remove("k", ifVersion: version) }
    await #expect(throws: StoreError.closed) { try await twin.putIfAbsent("v", forKey: "k") }
    await #expect(throws: StoreError.closed) { try await twin.increment("k") }
    await #expect(throws: StoreError.closed) { try await twin.append("v", toKey: "k") }
    await #expect(throws: StoreError.closed) { try await twin.touch("k", expiry: .never) }
    await #expect(throws: StoreError.closed) { try await twin.persist("k") }
    await #expect(throws: StoreError.closed) { _ = try await twin.get("k", extendingBy: .seconds(1)) }
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
    #expect(try again.totalCount() == 0)
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
