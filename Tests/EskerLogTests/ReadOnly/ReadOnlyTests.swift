import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

@Suite struct ReadOnlyTests {
  let machine = Machine()

  private func openForReading() throws -> LogStore {
    try machine.open { $0.readOnly = true }
  }

  @Test func aMissingStoreIsATypedErrorAndNothingIsCreated() throws {
    #expect(throws: StoreError.failed(operation: "open", path: "/store", errno: 2)) { try openForReading() }
    #expect(try machine.disk.list("/") == [])
    try machine.disk.createDirectory("/store")
    #expect(throws: StoreError.notAStore(path: "/store")) { try openForReading() }
    #expect(try machine.disk.list("/store") == [])
  }

  @Test func everyWriteIsRefused() throws {
    let writer = try machine.open()
    try writer.put("v", forKey: "k")
    try writer.close()
    let store = try openForReading()
    #expect(throws: StoreError.readOnly) { try store.put("v", forKey: "k") }
    #expect(throws: StoreError.readOnly) { try store.remove("k") }
    #expect(throws: StoreError.readOnly) { try store.removeAll() }
    #expect(throws: StoreError.readOnly) { try store.removeExpired() }
    #expect(throws: StoreError.readOnly) { try store.increment("n") }
    #expect(throws: StoreError.readOnly) { try store.touch("k", expiry: .never) }
    #expect(throws: StoreError.readOnly) { try store.write { (b) throws(StoreError) in try b.put("v", forKey: "k") } }
    #expect(throws: StoreError.noSuchKeyspace("new")) { try store.keyspace("new") }
    #expect(throws: StoreError.readOnly) { try store.default.setDefaultExpiry(.seconds(1)) }
    #expect(throws: StoreError.readOnly) { try store.resetClock() }
    #expect(throws: StoreError.readOnly) { try store.sync() }
    #expect(try store.get("k") == bytes("v"))
  }

  @Test func aCleanStoreIsReadAndLeftAsItIs() throws {
    let writer = try machine.open()
    for number in 0..<50 { try writer.put([UInt8](repeating: 1, count: 4000), forKey: "\(number)") }
    try writer.close()
    let before = try DiskImage(of: machine)
    let store = try openForReading()
    #expect(try store.count() == 50)
    #expect(try store.contents().count == 50)
    #expect(try store.verify().isClean)
    try store.close()
    #expect(try DiskImage(of: machine).files == before.files)
  }

  @Test func aCrashedStoreIsReadAndLeftAsItIs() throws {
    var machine = machine
    let writer = try machine.open()
    for number in 0..<50 { try writer.put([UInt8](repeating: 1, count: 4000), forKey: "\(number % 40)") }
    machine.disk = try machine.disk.processKilled()
    let before = try DiskImage(of: machine)
    let store = try machine.open { $0.readOnly = true }
    #expect(try store.count() == 40)
    #expect(try store.contents().count == 40)
    try store.close()
    #expect(try DiskImage(of: machine).files == before.files)
    #expect(try machine.open().count() == 40)
  }

  @Test func putsRemovesAndBatchesOfALiveWriterAreFollowed() throws {
    let writer = try machine.open()
    try writer.put("0", forKey: "k")
    let reader = try openForReading()
    #expect(try reader.get("k") == bytes("0"))
    try writer.put("1", forKey: "k")
    #expect(try reader.get("k") == bytes("1"))
    try writer.remove("k")
    #expect(try reader.get("k") == nil)
    try writer.write { (batch) throws(StoreError) in
      try batch.put("2", forKey: "a")
      try batch.put("3", forKey: "b")
    }
    #expect(try reader.get("a") == bytes("2"))
    #expect(try reader.get("b") == bytes("3"))
    #expect(try reader.count() == 2)
    #expect(reader.lastSequence == writer.lastSequence)
  }

  @Test func aReaderOfAnEmptyStoreSeesTheFirstPut() throws {
    let writer = try machine.open()
    let reader = try openForReading()
    #expect(try reader.get("k") == nil)
    try writer.put("1", forKey: "k")
    try reader.refresh()
    #expect(try reader.get("k") == bytes("1"))
  }

  @Test func rotationsAreFollowed() throws {
    let writer = try machine.open()
    let reader = try openForReading()
    for number in 0..<300 {
      try writer.put([UInt8](repeating: UInt8(number % 256), count: 3000), forKey: "key \(number % 60)")
      if number % 37 == 0 {
        try reader.refresh()
        #expect(try reader.get("key \(number % 60)") == [UInt8](repeating: UInt8(number % 256), count: 3000))
      }
    }
    try reader.refresh()
    #expect(try reader.count() == 60)
    #expect(try reader.contents() == writer.contents())
    #expect(try reader.verify().isClean)
  }

  @Test func rotationsAreFollowedBesideAWriterWithThreads() throws {
    var machine = machine
    machine.background = .threads
    let writer = try machine.open()
    let reader = try machine.open { $0.readOnly = true }
    for number in 0..<2000 {
      try writer.put([UInt8](repeating: UInt8(number % 256), count: 1000), forKey: "key \(number % 60)")
      if number % 5 == 0 {
        try reader.refresh()
        #expect(reader.lastSequence == writer.lastSequence, "after put \(number)")
      }
    }
    #expect(try reader.contents() == writer.contents())
  }

  @Test func recordsThatReachBeyondWhatWasMappedAreFollowed() throws {
    let large: (inout Options) -> Void = { $0.segmentSize = 4 << 20 }
    let writer = try machine.open(large)
    try writer.put("0", forKey: "k")
    let reader = try machine.open {
      large(&$0)
      $0.readOnly = true
    }
    for number in 0..<40 {
      try writer.put([UInt8](repeating: UInt8(number), count: 50_000), forKey: "key \(number)")
      try reader.refresh()
      #expect(try reader.get("key \(number)")?.count == 50_000, "after put \(number)")
    }
    #expect(try reader.contents() == writer.contents())
  }

  @Test func keyspacesAndTheirEmptyingAreFollowed() throws {
    let writer = try machine.open()
    let reader = try openForReading()
    let keyspace = try writer.keyspace("later")
    try keyspace.put("1", forKey: "k")
    let followed = try reader.keyspace("later")
    #expect(try followed.get("k") == bytes("1"))
    try keyspace.removeAll()
    try reader.refresh()
    #expect(try followed.get("k") == nil)
    #expect(try followed.count() == 0)
    try keyspace.put("2", forKey: "k2")
    try reader.refresh()
    #expect(try followed.get("k2") == bytes("2"))
    #expect(try reader.contents(of: followed) == [bytes("k2"): bytes("2")])
  }

  @Test func aSnapshotOfAReaderStaysAsItIs() throws {
    let writer = try machine.open()
    for number in 0..<100 { try writer.put([UInt8](repeating: 0, count: 1000), forKey: "key \(number)") }
    let reader = try openForReading()
    let snapshot = try reader.snapshot()
    let before = try snapshot.contents()
    #expect(before.count == 100)
    for number in 0..<150 { try writer.put([UInt8](repeating: 1, count: 1000), forKey: "key \(number)") }
    for number in 0..<10 { try writer.remove("key \(number)") }
    try reader.refresh()
    #expect(try reader.count() == 140)
    #expect(try snapshot.contents() == before)
    #expect(try reader.contents() == writer.contents())
  }

  @Test func aReaderGoesOnAfterTheWriterWasClosedAndOpenedAgain() throws {
    var writer = try machine.open()
    try writer.put("1", forKey: "a")
    let reader = try openForReading()
    #expect(try reader.get("a") == bytes("1"))
    for round in 0..<5 {
      try writer.close()
      #expect(try reader.get("a") != nil)
      writer = try machine.open()
      for number in 0..<40 { try writer.put([UInt8](repeating: UInt8(round), count: 3000), forKey: "\(number)") }
      try reader.refresh()
      #expect(try reader.contents() == writer.contents())
    }
  }

  @Test func aReaderGoesOnAfterTheWriterWasKilledInABatch() throws {
    let writer = try machine.open()
    try writer.put("1", forKey: "a")
    let reader = try openForReading()
    #expect(try reader.get("a") == bytes("1"))
    // Half a batch, as a writer leaves it that is killed between two records.
    writer.probe.appendUnfinishedBatch(key: bytes("half"), value: bytes("half"))
    try reader.refresh()
    #expect(try reader.get("half") == nil)
    writer.probe.kill()
    let next = try machine.open()
    #expect(try next.get("half") == nil)
    try next.put("2", forKey: "b")
    try reader.refresh()
    #expect(try reader.get("b") == bytes("2"))
    #expect(try reader.get("half") == nil)
  }

  @Test func twoReadersAndAWriterShareAStore() throws {
    let writer = try machine.open()
    let one = try openForReading()
    let two = try openForReading()
    try writer.put("1", forKey: "a")
    try one.refresh()
    try two.refresh()
    #expect(try one.get("a") == bytes("1"))
    #expect(try two.get("a") == bytes("1"))
    try one.close()
    try writer.put("2", forKey: "a")
    try two.refresh()
    #expect(try two.get("a") == bytes("2"))
  }

  @Test func refreshInAWriterDoesNothing() throws {
    let writer = try machine.open()
    try writer.put("1", forKey: "a")
    try writer.refresh()
    #expect(try writer.get("a") == bytes("1"))
  }
}
