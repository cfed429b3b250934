import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

@Suite struct FullDiskTests {
  /// Fills the store until a put is refused; how many were taken.
  private func fill(_ store: LogStore, _ prefix: String = "key") throws -> Int {
    var count = 0
    while true {
      do throws(StoreError) {
        try store.put([UInt8](repeating: 1, count: 3000), forKey: "\(prefix) \(count)")
        count += 1
      } catch {
        guard case .noSpace = error else { throw error }
        return count
      }
    }
  }

  /// Fills the disk with a file that is not the store's.
  private func occupy(_ machine: Machine, leaving: Int) throws {
    let file = try machine.disk.open("/ballast", .create)
    let free = try machine.disk.freeSpace(at: "/")
    try file.reserve(max(4096, (free - leaving) / 4096 * 4096))
  }

  @Test func aRefusedPutChangesNothingAndReadsGoOn() throws {
    let machine = Machine(capacity: 1 << 20)
    let store = try machine.open()
    let count = try fill(store)
    #expect(count > 100)
    let sequence = store.lastSequence
    let before = try store.contents()
    let large = [UInt8](repeating: 2, count: 200_000)
    for _ in 0..<3 {
      #expect {
        try store.put(large, forKey: "key 0")
      } throws: { error in
        guard case StoreError.noSpace = error else { return false }
        return true
      }
      #expect {
        try store.write { (batch) throws(StoreError) in
          for number in 0..<count { try batch.put([UInt8](repeating: 3, count: 3000), forKey: "key \(number)") }
        }
      } throws: { error in
        guard case StoreError.noSpace = error else { return false }
        return true
      }
    }
    #expect(store.lastSequence == sequence)
    #expect(try store.contents() == before)
    for number in 0..<count { #expect(try store.get("key \(number)")?.count == 3000) }
    #expect(try store.verify().isClean)
    let figures = try store.expectConsistentFigures()
    #expect(figures.live == figures.recount)
    #expect(figures.live + figures.dead == figures.logged)
  }

  @Test func removalsAndMergesFreeSpaceOnAFullDisk() throws {
    let machine = Machine(capacity: 2 << 20)
    let store = try machine.open { $0.merge.isAutomatic = false }
    let count = try fill(store)
    let small = try (0..<3000).count { number in
      do throws(StoreError) {
        try store.put("v", forKey: "small \(number)")
        return true
      } catch {
        guard case .noSpace = error else { throw error }
        return false
      }
    }
    #expect(small < 3000)
    #expect(count > 200)
    for number in 0..<100 { #expect(try store.remove("key \(number)")) }
    try store.merge()
    #expect(try fill(store, "more") > 50)
    for number in 0..<count { #expect((try store.get("key \(number)") != nil) == (number >= 100)) }
    #expect(try store.verify().isClean)
  }

  @Test func theStoreWorksAgainOnceSpaceIsFreed() throws {
    let machine = Machine(capacity: 4 << 20)
    let store = try machine.open()
    try store.put("first", forKey: "first")
    try occupy(machine, leaving: 300_000)
    let count = try fill(store)
    #expect(count > 10 && count < 200)
    try store.sync()
    try machine.disk.remove("/ballast")
    let more = try fill(store, "more")
    #expect(more > count)
    #expect(try store.count() == count + more + 1)
    try? store.close()
  }

  @Test func aStoreFilledToTheBrimClosesAndOpensAgain() throws {
    var machine = Machine(capacity: 1 << 20)
    let store = try machine.open()
    let count = try fill(store)
    try store.sync()
    try? store.close()
    let again = try machine.open()
    #expect(try again.count() == count)
    #expect(try again.contents().count == count)
    let killed = try machine.reopenAfterKill()
    #expect(try killed.count() == count)
  }

  @Test func aStoreFilledToTheBrimOpensAfterAKill() throws {
    var machine = Machine(capacity: 1 << 20)
    let store = try machine.open()
    let count = try fill(store)
    let again = try machine.reopenAfterKill()
    #expect(try again.count() == count)
    for number in 0..<count { #expect(try again.get("key \(number)")?.count == 3000) }
    withExtendedLifetime(store) {}
  }

  @Test func aStoreCannotBeCreatedOnAFullDisk() throws {
    let machine = Machine(capacity: 64 << 10)
    try occupy(machine, leaving: 0)
    #expect {
      try machine.open()
    } throws: { error in
      guard case StoreError.noSpace = error else { return false }
      return true
    }
    try machine.disk.remove("/ballast")
    let store = try machine.open()
    #expect(try store.totalCount() == 0)
  }

  @Test func creatingAKeyspaceOnAFullDiskChangesNothing() throws {
    let machine = Machine(capacity: 1 << 20)
    let store = try machine.open()
    _ = try fill(store)
    var created = 0
    // The manifest has room for some names; when it has none left, the error has a type and the store goes on.
    for number in 0..<2000 {
      do throws(StoreError) {
        _ = try store.keyspace(String(repeating: "n", count: 200) + "\(number)")
        created += 1
      } catch {
        guard case .noSpace = error else { throw error }
        break
      }
    }
    #expect(created < 2000)
    #expect(try store.keyspaceNames.count == created)
    #expect(try store.get("key 1")?.count == 3000)
  }
}
