import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// Feeds beside writers and merges on threads, on a real disk.
@Suite(.serialized, .timeLimit(.minutes(60))) struct ChangeConcurrencyTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func open(readOnly: Bool = false) throws -> LogStore {
    var options = Options()
    options.segmentSize = 256 << 10
    options.readOnly = readOnly
    return try LogStore(at: directory.appending("store"), options: options)
  }

  /// Overwrites a few keys from several threads, in single writes and batches.
  private func write(_ store: LogStore, count: Int) throws -> [any Error] {
    try onThreads(3) { thread in
      for number in 0..<count {
        let value = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 100 + number % 300)
        switch number % 10 {
        case 9: try store.remove("\(thread) \(number % 50)")
        case 4:
          try store.write { (batch) throws(StoreError) in
            try batch.put(value, forKey: "\(thread) a")
            try batch.put(value, forKey: "\(thread) b")
          }
        default: try store.put(value, forKey: "\(thread) \(number % 50)")
        }
      }
    }
  }

  @Test func everyFeedShowsEveryWriteOnceWhileOthersWriteAndMerge() async throws {
    let store = try open()
    try store.put("v", forKey: "first")
    let snapshot = try store.snapshot()
    let start = try Replica(of: snapshot)
    let readers = (0..<3).map { _ in
      let feed = store.changes(since: snapshot.sequence)
      return Task {
        var replica = start
        var next = start.position.rawValue + 1
        for try await change in feed {
          guard change.sequence.rawValue == next else { throw StoreError.keyTooLong(Int(next)) }
          next += 1
          replica.apply(change)
        }
        return replica
      }
    }
    #expect(try write(store, count: 20_000).isEmpty)
    // The background may come to it only now.
    let hasMerged = try await eventually { store.statistics.merges > 0 }
    #expect(hasMerged)
    let contents = try store.contents()
    let last = store.lastSequence
    try store.close()
    for reader in readers {
      let replica = try await reader.value
      #expect(replica.position == last)
      #expect(replica.contents(of: "", at: 0) == contents)
    }
  }

  @Test func aFeedOfAReadOnlyStoreKeepsUpWithAWriter() async throws {
    let store = try open()
    try store.put("v", forKey: "first")
    let other = try open(readOnly: true)
    let snapshot = try other.snapshot()
    let feed = other.changes(since: snapshot.sequence)
    var replica = try Replica(of: snapshot)
    let writer = Task.detached {
      let errors = try write(store, count: 5000)
      try store.put("v", forKey: "last")
      return errors
    }
    var iterator = feed.makeAsyncIterator()
    var isDone = false
    while !isDone {
      do throws(StoreError) {
        guard let change = try await iterator.next() else { break }
        #expect(change.sequence.rawValue == replica.position.rawValue + 1)
        replica.apply(change)
        isDone = change.key == bytes("last")
      } catch {
        // Merged away before this store saw it.
        guard case .historyGone = error else { throw error }
        let snapshot = try other.snapshot()
        replica = try Replica(of: snapshot)
        isDone = try other.contains("last")
        iterator = other.changes(since: snapshot.sequence).makeAsyncIterator()
      }
    }
    #expect(try await writer.value.isEmpty)
    #expect(replica.contents(of: "", at: 0) == (try store.contents()))
    try other.close()
    try store.close()
  }

  @Test func cancellingAndClosingWhileOthersWriteLosesNobody() async throws {
    let store = try open()
    let feed = store.changes()
    let writer = Task.detached { try write(store, count: 5000) }
    var shown = 0
    for round in 0..<200 {
      let task = Task { try await feed.take(50).count }
      if round % 2 == 0 { await Task.yield() }
      task.cancel()
      shown += try await task.value
    }
    #expect(try await writer.value.isEmpty)
    let last = store.lastSequence.rawValue
    try store.close()
    shown += try await feed.take(.max).count
    #expect(shown == Int(last))
  }
}
