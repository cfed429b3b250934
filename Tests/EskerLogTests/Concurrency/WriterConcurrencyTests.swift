import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

@Suite(.serialized, .timeLimit(.minutes(60))) struct WriterConcurrencyTests {
  let directory: TemporaryDirectory
  let path: String
  let store: LogStore

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.appending("store")
    store = try LogStore(at: path, options: Self.options)
  }

  static var options: Options {
    var options = Options()
    options.segmentSize = 64 << 10
    return options
  }

  private func counter(_ bytes: [UInt8]?) -> Int64 {
    Int64(bitPattern: (bytes ?? []).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }

  @Test func incrementsOfManyThreadsSumUp() throws {
    let store = store
    let errors = try onThreads(4) { number in
      for step in 0..<1500 { try store.increment("counter \(step % 3)", by: Int64(number + 1)) }
    }
    #expect(errors.isEmpty)
    var sum: Int64 = 0
    for number in 0..<3 { sum += counter(try store.get("counter \(number)")) }
    #expect(sum == 1500 * (1 + 2 + 3 + 4))
    #expect(store.lastSequence.rawValue == 6000)
    try store.close()
    let again = try LogStore(at: path, options: Self.options)
    #expect(again.lastSequence.rawValue == 6000)
    #expect(try again.count() == 3)
    #expect(try again.verify().isClean)
  }

  @Test func eachVersionHasOneWinner() throws {
    let store = store
    let wins = SharedCounter()
    let rounds = 400
    let errors = try onThreads(4) { number in
      for _ in 0..<rounds {
        let version = try store.metadata(forKey: "k")?.version
        if try store.compareAndSet("\(number)", forKey: "k", ifVersion: version) != nil { wins.add() }
      }
    }
    #expect(errors.isEmpty)
    // Only winners wrote.
    #expect(Int(store.lastSequence.rawValue) == wins.value)
    #expect(wins.value >= rounds)
  }

  @Test func putIfAbsentHasOneWinnerForEachKey() throws {
    let store = store
    let winners = Guarded<[Int: Int]>([:])
    let errors = try onThreads(4) { number in
      for key in 0..<800 where try store.putIfAbsent("\(number)", forKey: "key \(key)") != nil {
        winners.withLock { $0[key, default: 0] += 1 }
      }
    }
    #expect(errors.isEmpty)
    #expect(winners.withLock { $0 } == Dictionary(uniqueKeysWithValues: (0..<800).map { ($0, 1) }))
    #expect(try store.count() == 800)
  }

  @Test func appendsLoseNothing() throws {
    let store = store
    let errors = try onThreads(4) { number in
      for _ in 0..<100 { try store.append([UInt8(number)], toKey: "k") }
    }
    #expect(errors.isEmpty)
    let value = try #require(try store.get("k"))
    #expect(value.count == 400)
    for number in 0..<4 { #expect(value.count { $0 == UInt8(number) } == 100) }
  }

  @Test func removesOfManyThreadsAgreeWhoRemoved() throws {
    let store = store
    for key in 0..<500 { try store.put("v", forKey: "key \(key)") }
    let removed = SharedCounter()
    let errors = try onThreads(4) { _ in
      for key in 0..<500 where try store.remove("key \(key)") { removed.add() }
    }
    #expect(errors.isEmpty)
    #expect(removed.value == 500)
    #expect(try store.count() == 0)
    let figures = try store.expectConsistentFigures()
    #expect(figures.live == 0)
  }

  @Test func syncedWritersShareSyncs() throws {
    let store = store
    let errors = try onThreads(8) { number in
      for step in 0..<20 {
        let sequence = try store.put("v", forKey: "\(number) \(step)", durability: .synced)
        guard store.durableSequence >= sequence else { throw StoreError.cancelled }
      }
    }
    #expect(errors.isEmpty)
    #expect(store.durableSequence == store.lastSequence)
    #expect(store.statistics.syncs.count <= 165)
  }

  @Test func emptyingAKeyspaceBesideWritersKeepsCountsRight() throws {
    let store = store
    let keyspace = try store.keyspace("other")
    let errors = try onThreads(4) { number in
      for step in 0..<600 {
        switch number {
        case 0 where step % 60 == 0: try keyspace.removeAll()
        case 0: try keyspace.remove("key \(step % 40)")
        case 1 where step % 50 == 0: try store.removeAllExpired()
        default:
          try keyspace.put("v", forKey: "key \(step % 40)", expiry: step % 9 == 0 ? .after(.milliseconds(1)) : nil)
        }
      }
    }
    #expect(errors.isEmpty)
    // Until the last of the brief values has expired.
    let last = store.time.millisecondsSince1970 + 1
    #expect(eventually { store.time.millisecondsSince1970 >= last })
    try store.removeAllExpired()
    #expect(try keyspace.count() == store.contents(of: keyspace).count)
    store.probe.sweep()
    let figures = try store.expectConsistentFigures()
    #expect(figures.live == figures.recount)
    try store.close()
    let again = try LogStore(at: path, options: Self.options)
    let reopened = try again.keyspace("other")
    #expect(try reopened.count() == again.contents(of: reopened).count)
  }

  @Test func keyspacesAreCreatedOnceByManyThreads() throws {
    let store = store
    let errors = try onThreads(4) { number in
      for name in 0..<10 { try store.keyspace("space \(name)").put("\(number)", forKey: "\(number)") }
    }
    #expect(errors.isEmpty)
    #expect(try store.keyspaceNames.count == 10)
    for name in 0..<10 { #expect(try store.keyspace("space \(name)").count() == 4) }
    #expect(store.probe.keyspaceIDs == Set(0...10))
  }
}
