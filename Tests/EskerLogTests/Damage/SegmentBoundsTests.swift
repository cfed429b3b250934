import EskerFormat
import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// What claims to know where a segment's records end may be wrong.
@Suite struct SegmentBoundsTests {
  /// A segment whose file was cut to a page, behind which nothing can be read.
  private func cutSegment(isPacked: Bool) throws -> (store: LogStore, segment: HeldSegment) {
    let machine = Machine()
    let store = try machine.open { $0.compression = isPacked ? .lz4 : .off }
    var random = SeededGenerator(seed: 4)
    for number in 0..<60 { try store.put(random.bytes(number % 7 * 60), forKey: "key \(number % 50)") }
    if isPacked { try store.merge() } else { try store.probe.endTail() }
    let statistics = try #require(store.statistics.segments.first { $0.isPacked == isPacked && $0.isSealed })
    let name = try #require(statistics.path.split(separator: "/").last.map { String($0) })
    // The segment is not the last one, whose end a reader leaves open.
    try store.put("v", forKey: "later")
    try store.close()
    let damaged = try DiskImage(of: machine).truncating(name, to: 4096).machine()
    let reader = try damaged.open { $0.readOnly = true }
    let cut = try #require(reader.probe.segments.first { $0.path.hasSuffix(name) })
    let segment = try #require(reader.probe.hold(cut.id))
    #expect(segment.recordsEnd > 8192)
    #expect(segment.isPacked == isPacked)
    #expect(segment.accessibleLength == 4096)
    return (reader, segment)
  }

  @Test func noEndLeadsBeyondTheFile() throws {
    let (store, segment) = try cutSegment(isPacked: false)
    for end in [4096, 4097, 8192, 1 << 40, Int.max] {
      for offset in [4088, 4096, 4104, 8192, 1 << 30, -8, 129] {
        if case .record = segment.readRecord(at: offset, end: end) { Issue.record("a record at \(offset)") }
        if let size = segment.recordSize(at: offset, end: end) { #expect(offset + size <= 4096) }
        #expect(!segment.hasRecord(at: offset) || offset < 4096)
        if let found = segment.nextRecord(after: offset, end: end) { #expect(found < 4096) }
        if let found = segment.nextNonzeroWord(from: offset, end: end) { #expect(found < 4096) }
      }
      var offset = SegmentHeader.length
      var count = 0
      while case .record(let header) = segment.readRecord(at: offset, end: end) {
        offset += header.size
        count += 1
      }
      #expect(count > 2 && offset <= 4096)
    }
    try store.close()
  }

  @Test func noEndLeadsBeyondAPackedFile() throws {
    let (store, segment) = try cutSegment(isPacked: true)
    for end in [4096, 4097, 1 << 40, Int.max] {
      let view = try #require(segment.packedView(end: end))
      var walk = PackedWalk(view)
      while let step = walk.next(in: view) {
        if case .damaged(let range) = step { #expect(range.upperBound <= 4096) }
      }
      for offset in stride(from: 0, to: 20_000, by: 8) { _ = view.entry(at: offset) }
    }
    try store.close()
  }

  @Test func aLimitIsNeverBeyondTheMapping() throws {
    let (store, segment) = try cutSegment(isPacked: false)
    store.probe.raiseLimit(of: segment, to: 1 << 20)
    #expect(store.probe.canLead(to: 511, of: segment))
    #expect(!store.probe.canLead(to: 512, of: segment))
    try store.close()
  }

  /// Each missing range is one finding, with all that is missing.
  @Test(arguments: [false, true]) func verificationNamesWhatIsMissingOnce(isPacked: Bool) throws {
    let (store, segment) = try cutSegment(isPacked: isPacked)
    let report = try store.verify()
    let missing = report.damage.filter { $0.reason.contains("the segment is truncated") }
    #expect(missing.count == 1)
    #expect(missing.first?.location.offset.map { $0 <= 4096 } == true)
    #expect(missing.first.map { ($0.location.offset ?? 0) + $0.length } == segment.recordsEnd)
    try store.close()
  }
}
