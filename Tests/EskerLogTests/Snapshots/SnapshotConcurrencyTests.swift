import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// Snapshots that are taken and walked while the store changes under them. Bounded by what is done, not by time.
@Suite(.serialized, .timeLimit(.minutes(60))) struct SnapshotConcurrencyTests {
  struct Wrong: Error { var entries: Int, keys: Int }

  /// A store whose merges are called for. The disk is in memory, so that there are many in a second.
  private func open() throws -> LogStore {
    try Machine().open { options in
      options.merge.isAutomatic = false
      options.segmentSize = 256 << 10
    }
  }

  @Test func aSnapshotHasEveryKeyOnceWhileMergesMoveThem() throws {
    let store = try open()
    let keys = 2_000
    for key in 0..<keys { try store.put("value", forKey: "key \(key)") }
    let done = SharedFlag()
    let moved = SharedCounter()
    let errors = try onThreads(4) { thread in
      switch thread {
      case 0:
        defer { done.raise() }
        for _ in 0..<150 {
          try store.probe.endTail()
          moved.add(try store.merge(segments: store.statistics.segments.map(\.id)).segmentsWritten)
        }
      case 1:
        var generator = SeededGenerator(seed: 1)
        while !done.isRaised {
          try store.put("another", forKey: "key \(Int.random(in: 0..<keys, using: &generator))")
        }
      default:
        while !done.isRaised {
          let snapshot = try store.snapshot()
          let seen = try snapshot.map { try $0.key() }
          // Once each: of a record and its copy, or the one that replaced it, one is shown.
          guard seen.count == keys, Set(seen).count == keys, snapshot.count == keys else {
            throw Wrong(entries: seen.count, keys: Set(seen).count)
          }
        }
      }
    }
    #expect(errors.isEmpty, "\(errors)")
    #expect(moved.value >= 150)
    #expect(try store.verify().isClean)
  }

  @Test func aSnapshotAskedForAmidTheMovesOfAMergeHasEveryKeyOnce() throws {
    var machine = Machine()
    machine.background = .threads
    let store = try machine.open { $0.merge.isAutomatic = false }
    let keys = 2_000
    for key in 0..<keys { try store.put("value", forKey: "key \(key)") }
    try store.probe.endTail()
    for key in 0..<keys / 2 { try store.put("another", forKey: "key \(key)") }
    try store.probe.endTail()
    // Among the first moves, and with pauses to come between the others.
    let asked = Guarded<WorkerThread?>(nil)
    let shown = Guarded<[[UInt8]]?>(nil)
    let isAsking = SharedFlag()
    let hook = store.probe.onLeaving(nth: 300) {
      let thread = try? WorkerThread(name: "asks") {
        isAsking.raise()
        guard let snapshot = try? store.snapshot() else { return }
        let seen = snapshot.compactMap { try? $0.key() }
        shown.withLock { $0 = seen }
      }
      asked.withLock { $0 = thread }
      while !isAsking.isRaised { Platform.yieldThread() }
    }
    try store.merge(segments: store.statistics.segments.map(\.id))
    hook.leave()
    try #require(asked.withLock { $0.take() }).join()
    let seen = try #require(shown.withLock { $0 })
    #expect(seen.count == keys)
    #expect(Set(seen).count == keys)
  }
}
