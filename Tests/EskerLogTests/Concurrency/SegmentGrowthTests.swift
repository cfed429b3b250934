import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

@Suite(.timeLimit(.minutes(60))) struct SegmentGrowthTests {
  /// A writer that has its bytes as soon as they are accessible stores to them while others zero what lies ahead.
  @Test(arguments: [1, 3]) func whoGrowsASegmentZeroesNothingThatWasStored(helpers: Int) throws {
    let capacity = 16 << 20
    let (directory, segment, granules) = try segment(capacity: capacity)
    defer { granules.deallocate() }
    let isDone = SharedFlag()
    let reached = SharedCounter()
    let beyondLimit = SharedCounter()
    let errors = try onThreads(helpers + 1) { thread in
      if thread > 0 {
        // Ahead of the writer, as the background is.
        while !isDone.isRaised {
          let end = min(capacity, reached.value + thread * 300_000)
          try segment.grow(to: end, reserving: capacity, zeroing: true, in: granules)
        }
        return
      }
      defer { isDone.raise() }
      for end in stride(from: 1000, through: capacity, by: 1000) {
        try segment.grow(to: end, reserving: capacity, zeroing: true, in: granules)
        let address = segment.startUnits + UInt64((end - 1) >> 3)
        if granules.place(of: address) == nil { beyondLimit.add() }
        segment.base.storeBytes(of: UInt8(truncatingIfNeeded: end / 1000 | 1), toByteOffset: end - 1, as: UInt8.self)
        reached.add(1000)
      }
    }
    #expect(errors.isEmpty)
    #expect(beyondLimit.value == 0, "the end was accessible before readers could find it")
    let lost = stride(from: 1000, through: capacity, by: 1000).filter { end in
      segment.base.load(fromByteOffset: end - 1, as: UInt8.self) != UInt8(truncatingIfNeeded: end / 1000 | 1)
    }
    #expect(lost.isEmpty)
    granules.uninstall(segment)
    withExtendedLifetime(directory) {}
  }

  /// The background may come late to a tail that has been ended meanwhile.
  @Test func aSegmentThatIsSealedIsNotGrownOverItsFooter() throws {
    let (directory, segment, granules) = try segment(capacity: 1 << 20)
    defer { granules.deallocate() }
    try segment.grow(to: 100_000, reserving: segment.capacity, zeroing: true, in: granules)
    segment.change { $0.seal(at: 90_000, last: 1) }
    segment.awaitGrowth()
    let end = segment.accessible.load(ordering: .relaxed)
    let footer = [UInt8](repeating: 7, count: 10_000)
    try segment.file.writeAll(footer, at: end)
    try segment.grow(to: end + footer.count, reserving: segment.capacity, zeroing: true, in: granules)
    #expect(try segment.file.bytes(in: end..<end + footer.count) == footer)
    granules.uninstall(segment)
    withExtendedLifetime(directory) {}
  }

  /// Writers neither fault nor wait for the file system.
  @Test(arguments: [Durability.buffered, .synced]) func theTailIsPreparedAheadOfWriters(durability: Durability) throws {
    let store = try Machine().open { $0.segmentSize = 16 << 20 }
    for number in 0..<100 {
      try store.put([UInt8](repeating: 1, count: 64 << 10), forKey: "\(number)", durability: durability)
    }
    let populated = try #require(store.probe.tailPopulated)
    let end = try #require(store.probe.tailEnd)
    #expect(populated > end && populated <= 2 * end)
    try store.close()
  }

  private func segment(capacity: Int) throws -> (TemporaryDirectory, Segment, GranuleTable) {
    let directory = try TemporaryDirectory()
    let path = directory.appending("segment")
    let granules = try #require(GranuleTable())
    let file = try Platform.system.fileSystem.open(path, .create)
    let segment = Segment(
      id: 1,
      kind: .log,
      salt: 0,
      path: path,
      file: file,
      mapping: try file.map(capacity: capacity, writable: true),
      pages: PageAdvice(.system),
      capacity: capacity,
      lease: try #require(AddressSpace().take(GranuleTable.granules(for: capacity))),
      created: 0
    )
    granules.install(segment)
    return (directory, segment, granules)
  }
}
