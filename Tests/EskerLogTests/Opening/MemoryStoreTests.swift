import EskerPlatform
import EskerTestSupport
import Foundation
import Testing

@testable import EskerLog

/// Stores that need no directory.
@Suite struct MemoryStoreTests {
  @Test func aStoreInMemoryDoesWhatAStoreDoes() throws {
    let store = try LogStore.inMemory { $0.segmentSize = 64 << 10 }
    let space = try store.keyspace("s")
    for number in 0..<5_000 { try space.put("value \(number)", forKey: "key \(number)") }
    for number in 0..<5_000 where number % 2 == 0 { try space.remove("key \(number)") }
    try store.put("synced", forKey: "a", durability: .synced)
    try store.sync()
    try store.merge()
    #expect(try space.count() == 2_500 && space.get("key 4999") == bytes("value 4999"))
    #expect(try space.keys(in: .prefix("key 1")).count == 556)
    #expect(try store.snapshot().contents(of: "s").count == 2_500)
    #expect(try store.verify().isClean)
    #expect(store.statistics.segments.count > 1)
    #expect(!FileManager.default.fileExists(atPath: store.path))
    try store.close()
    #expect(throws: StoreError.closed) { try space.get("key 1") }
  }

  @Test func eachHasItsOwnEntries() throws {
    let (one, other) = (try LogStore.inMemory(), try LogStore.inMemory())
    try one.put("1", forKey: "a")
    #expect(try other.get("a") == nil && one.get("a") == bytes("1"))
    #expect(one.path != other.path)
  }

  /// What is worth keeping is a backup away.
  @Test func aBackupOfItIsAStoreOnTheDisk() throws {
    let directory = try TemporaryDirectory()
    let store = try LogStore.inMemory()
    for number in 0..<100 { try store.put("\(number)", forKey: "key \(number)") }
    try store.backup(to: directory.appending("backup"))
    try store.close()
    let found = try LogStore(at: directory.appending("backup"))
    #expect(try found.count() == 100 && found.get("key 7") == bytes("7"))
    try found.close()
  }

  @Test func timeIsTheTests() throws {
    let clock = FakeClock()
    let store = try LogStore.inMemory { $0.clock = Options.Clock(clock) }
    try store.put("1", forKey: "a", expiry: .after(.seconds(60)))
    clock.advance(milliseconds: 59_000)
    #expect(try store.contains("a"))
    clock.advance(milliseconds: 2_000)
    #expect(try !store.contains("a"))
  }

  @Test func aCapacityHoldsInMemoryToo() throws {
    let store = try LogStore.inMemory {
      $0.capacity = 1 << 20
      $0.segmentSize = 64 << 10
    }
    for number in 0..<5_000 { try store.put([UInt8](repeating: 1, count: 1_000), forKey: "key \(number)") }
    let count = try store.count()
    #expect(count > 0 && count < 1_100 && store.statistics.bytesOnDisk <= 1 << 20)
  }

  /// Once nobody has it any more, no descriptor of it is left.
  @Test func itIsGoneWithTheLastReference() throws {
    func descriptors() throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter { name in
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)"))?.contains("memfd:esker")
          == true
      }.count
    }
    #if os(Linux)
      // Others may be open beside this test: many are made, and not all of them may stay.
      let before = try descriptors()
      for _ in 0..<200 { try LogStore.inMemory().put("1", forKey: "a") }
      #expect(try eventually { try descriptors() < before + 200 })
    #endif
  }
}

extension LogStore {
  fileprivate static func inMemory(_ change: (inout Options) -> Void) throws -> LogStore {
    var options = Options()
    change(&options)
    return try inMemory(options: options)
  }
}
