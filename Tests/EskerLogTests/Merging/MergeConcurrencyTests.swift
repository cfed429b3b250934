import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// Merging on threads of the store's own, on a real disk.
@Suite(.serialized, .timeLimit(.minutes(10))) struct MergeConcurrencyTests {
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

  private func wait(until condition: () throws -> Bool) throws -> Bool {
    for _ in 0..<1000 {
      if try condition() { return true }
      Platform.system.pause()
      Platform.system.pause()
      Platform.system.pause()
      Platform.system.pause()
      Platform.system.pause()
    }
    return false
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
        while !done.isRaised { _ = try store.merge() }
      }
    }
    #expect(errors.isEmpty, "\(errors)")
    #expect(store.count == keys)
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
    #expect(try wait { store.statistics.bytesOnDisk < 2 << 20 }, "\(store.statistics)")
    #expect(store.count == 0)
  }

  @Test func whatExpiresGivesTheSpaceBackWithoutBeingAsked() throws {
    let store = try open { $0.segmentSize = 1 << 20 }
    for key in 0..<20_000 {
      try store.put([UInt8](repeating: 1, count: 400), forKey: "key \(key)", expiry: .after(.milliseconds(1500)))
    }
    #expect(try wait { store.statistics.bytesOnDisk < 3 << 20 }, "\(store.statistics)")
    #expect(store.statistics.merged.bytesWritten == 0)
  }

  @Test func closingEndsAMergeThatIsHeldToARate() throws {
    let store = try open { options in
      options.merge.bytesPerSecond = 100_000
      options.segmentSize = 1 << 20
    }
    for round in 0..<6 {
      for key in 0..<5_000 { try store.put([UInt8](repeating: UInt8(round), count: 400), forKey: "key \(key)") }
    }
    let contents = try store.contents()
    let start = ContinuousClock.now
    try store.close()
    #expect(ContinuousClock.now - start < .seconds(5))
    #expect(try open().contents() == contents)
  }
}
