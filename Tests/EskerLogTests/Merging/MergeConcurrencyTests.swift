import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// Merging on threads of the store's own, on a real disk.
@Suite(.serialized, .timeLimit(.minutes(60))) struct MergeConcurrencyTests {
  private let directory: TemporaryDirectory
  private let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.appending("store")
  }

  private func open(_ change: (inout Options) -> Void = { _ in }) throws -> LogStore {
    var options = Options()
    options.segmentSize = 256 << 10
    change(&options)
    return try LogStore(at: path, options: options)
  }

  struct Wrong: Error { var what: String }

  @Test func readersAndWritersGoOnWhileTheStoreMerges() throws {
    let store = try open()
    let keys = 400
    for key in 0..<keys { try store.put([UInt8](repeating: 0, count: 400), forKey: "key \(key)") }
    let done = SharedFlag()
    let errors = try onThreads(5) { thread in
      switch thread {
      case 0, 1:
        defer { if thread == 0 { done.raise() } }
        // Each writer has keys of its own.
        for step in 1...20_000 {
          try store.put([UInt8](repeating: UInt8(step % 251), count: 400), forKey: "key \(step * 2 % keys + thread)")
        }
      case 2:
        var step = 0
        while !done.isRaised {
          step += 1
          guard let value = try store.get("key \(step % keys)") else { throw Wrong(what: "a key was lost") }
          guard value.allSatisfy({ $0 == value[0] }), value.count == 400 else { throw Wrong(what: "a torn value") }
        }
      case 3:
        while !done.isRaised {
          let snapshot = try store.snapshot()
          guard try snapshot.contents().count == keys else { throw Wrong(what: "a snapshot lost a key") }
        }
      default:
        // Until one has merged something, however late it came.
        while !done.isRaised || store.statistics.merges == 0 { _ = try store.merge() }
      }
    }
    #expect(errors.isEmpty, "\(errors)")
    #expect(try store.count() == keys)
    #expect(store.statistics.merges > 0)
    let figures = try store.expectConsistentFigures()
    #expect(figures.live == figures.recount)
    #expect(try store.verify().isClean)
    let contents = try store.contents()
    try store.close()
    #expect(try open().contents() == contents)
  }

  @Test func removingEverythingGivesTheSpaceBackWithoutBeingAsked() throws {
    let store = try open { $0.segmentSize = 4 << 20 }
    for key in 0..<40_000 { try store.put([UInt8](repeating: 1, count: 400), forKey: "key \(key)") }
    for key in 0..<40_000 { try store.remove("key \(key)") }
    #expect(eventually { store.statistics.bytesOnDisk < 2 << 20 }, "\(store.statistics)")
    #expect(try store.count() == 0)
  }

  /// They are so short that no writer comes to where it would look around by itself.
  @Test func aFewRemovalsOfLargeValuesGiveTheSpaceBackToo() throws {
    let store = try open { $0.segmentSize = 4 << 20 }
    for round in 0..<3 {
      for key in 0..<400 { try store.put([UInt8](repeating: 1, count: 100_000), forKey: "key \(key)") }
      #expect(eventually { store.probe.isMergerAsleep }, "round \(round)")
      for key in 0..<400 { try store.remove("key \(key)") }
      #expect(eventually { store.statistics.bytesOnDisk < 16 << 20 }, "round \(round): \(store.statistics)")
    }
  }

  @Test func whatExpiresGivesTheSpaceBackWithoutBeingAsked() throws {
    // It stands still while they are written, so that all of a segment expires at once, however long they take.
    let clock = FakeClock()
    let store = try open {
      $0.segmentSize = 1 << 20
      $0.clock = Options.Clock(clock)
    }
    for key in 0..<20_000 {
      try store.put([UInt8](repeating: 1, count: 400), forKey: "key \(key)", expiry: .after(.milliseconds(1500)))
    }
    clock.advance(milliseconds: 1500)
    #expect(eventually { store.statistics.bytesOnDisk < 3 << 20 }, "\(store.statistics)")
    #expect(store.statistics.merged.bytesWritten == 0)
  }

  @Test func closingEndsAMergeThatIsHeldToARate() throws {
    let log = EventLog()
    // At this rate no merge comes to its end: if the call returns, it has ended one.
    let store = try open { options in
      options.merge.bytesPerSecond = 1
      options.segmentSize = 1 << 20
      options.onEvent = { log.record($0) }
    }
    // Something is alive in every segment, so that none goes without a copy, and there is more of them than the store may keep.
    var random = SeededGenerator(announcedFor: "closingEndsAMergeThatIsHeldToARate")
    for key in 0..<10_000 { try store.put([UInt8](repeating: 0, count: 400), forKey: "key \(key)") }
    store.pauseMerging()
    for round in 0..<4 {
      for key in 0..<10_000 where Bool.random(using: &random) {
        try store.put([UInt8](repeating: UInt8(round), count: 400), forKey: "key \(key)")
      }
    }
    let contents = try store.contents()
    store.resumeMerging()
    #expect(eventually { log.merges.began > 0 })
    try store.close()
    #expect(log.merges.ended == 0)
    #expect(try open().contents() == contents)
  }
}

extension EventLog {
  fileprivate var merges: (began: Int, ended: Int) {
    events.reduce(into: (0, 0)) { count, event in
      switch event {
      case .mergeBegan: count.0 += 1
      case .mergeEnded: count.1 += 1
      default: break
      }
    }
  }
}
