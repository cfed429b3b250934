import EskerFormat

@testable import EskerLog

/// What is known of a segment at some instant.
struct SegmentFigures: Sendable, CustomStringConvertible {
  /// The number that its file is called by.
  let id: UInt64
  /// Whether the writer or a merge wrote it.
  let kind: SegmentKind
  /// Where its file is.
  let path: String
  /// The first of the granules that its addresses take.
  let granule: Int
  /// Whether it takes no more records.
  let isSealed: Bool
  /// Whether a merge has found a record in it that cannot be read.
  let isUnmergeable: Bool
  /// Where its records end; 0 while they still come.
  let recordsEnd: Int
  /// The number of its first record, written or to come; 0 while that is not known.
  let firstSequence: UInt64
  /// The number of its last record, once that is known.
  let lastSequence: UInt64
  /// Where the footer stands; 0 while there is none.
  let footerOffset: Int
  /// Bytes of the footer; 0 while there is none.
  let footerLength: Int
  /// When the first of its records expires, as the footer says.
  let minExpiry: Int64
  /// When the last of its records expires that does, as the footer says.
  let maxExpiry: Int64
  /// How many of its records never expire, as the footer says.
  let neverExpiring: UInt64
  /// Bytes of the records that the index leads to.
  let liveBytes: Int
  /// Number of the records that the index leads to.
  let liveRecords: Int

  /// What a failed test says of it.
  var description: String { "\(id): \(firstSequence)...\(lastSequence) end \(recordsEnd) granule \(granule)" }
}

/// A segment that stays as long as this does, its addresses and its memory too.
struct HeldSegment: Sendable {
  fileprivate let segment: Segment

  init(_ segment: Segment) {
    self.segment = segment
  }

  /// The number that its file is called by.
  var id: UInt64 { segment.id }

  /// Where its file is.
  var path: String { segment.path }

  /// Whether its records are packed.
  var isPacked: Bool { segment.layout.isPacked }

  /// Whether it takes no more records now.
  var isSealed: Bool { segment.isSealed }

  /// Where its records end now; 0 while they still come.
  var recordsEnd: Int { segment.recordsEnd ?? 0 }

  /// The number of its first record, written or to come; 0 while that is not known.
  var firstSequence: UInt64 { segment.firstSequence }

  /// The number of its last record, once that is known.
  var lastSequence: UInt64 { segment.lastSequence }

  // MARK: Memory

  /// Bytes of the file that may be read and stored to.
  var accessibleLength: Int { segment.accessible.load(ordering: .relaxed) }

  /// Bytes of the file that are mapped.
  var mappedLength: Int { segment.mapping.length }

  /// How long its mapping may become.
  var capacity: Int { segment.capacity }

  /// Whether somebody met a page that is not there.
  var isFaulted: Bool { segment.mapping.isFaulted }

  /// The word at an offset, through the mapping.
  func word(at offset: Int) -> UInt64 {
    segment.mapping.base.load(fromByteOffset: offset, as: UInt64.self)
  }

  /// Changes a byte, through the mapping.
  func store(_ byte: UInt8, at offset: Int) {
    segment.base.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
  }

  /// Where some bytes stand first among the records, through the mapping.
  func offset(of bytes: [UInt8]) -> Int? {
    let end = segment.readableEnd
    let mapped = UnsafeRawBufferPointer(start: segment.base, count: end)
    return (0..<max(0, end - bytes.count)).first { start in
      mapped[start..<start + bytes.count].elementsEqual(bytes)
    }
  }

  // MARK: Records

  /// The header of what stands at an offset, as far as records are known to go.
  func readRecord(at offset: Int) -> RecordRead { segment.readRecord(at: offset, end: segment.readableEnd) }

  /// The header of what stands at an offset, when somebody says that the records go to `end`.
  func readRecord(at offset: Int, end: Int) -> RecordRead { segment.readRecord(at: offset, end: end) }

  /// The bytes of the record there, if any, when somebody says that the records go to `end`.
  func recordSize(at offset: Int, end: Int) -> Int? { segment.view(at: offset, end: end)?.size }

  /// Whether the index could lead there.
  func hasRecord(at offset: Int) -> Bool { segment.storedRecord(at: offset) != nil }

  /// Where the next readable record begins behind a damaged place, when somebody says that the records go to `end`.
  func nextRecord(after offset: Int, end: Int) -> Int? { segment.nextRecord(after: offset, end: end) }

  /// Where the next word is that is not zero, when somebody says that the records go to `end`.
  func nextNonzeroWord(from offset: Int, end: Int) -> Int? { segment.nextNonzeroWord(from: offset, end: end) }

  /// The records of a packed segment, when somebody says that they go to `end`.
  func packedView(end: Int) -> PackedSegmentView? { segment.packedView(end: end) }
}

extension StoreProbe {
  /// Reads the last segment of the log again, as an opening beside a writer does for which it was empty when it was last looked at.
  func readLastAsIfItHadBeenEmpty() {
    guard let segment = engine.catalog.lastLogSegment else { return }
    let first = segment.firstSequence
    segment.change { $0.begin(with: 0) }
    let manifest = engine.catalog.manifest
    var damage: [StoreEvent] = []
    var scanner = LogScanner(engine.writer, manifest, expected: first, through: .max)
    Recovery(engine.writer).read([segment], manifest, &scanner, &damage)
    scanner.finish()
  }

  /// The rows that a manifest would list, where something happens after the first look at each segment.
  func rows(afterEach look: (_ segment: UInt64) throws -> Void) throws -> [SegmentRow] {
    var failure: (any Error)?
    let rows = Segment.rows(of: engine.catalog.segments) { segment in
      guard failure == nil else { return }
      do { try look(segment.id) } catch { failure = error }
    }
    if let failure { throw failure }
    return rows
  }

  /// The store's segments: first those that merges wrote, then the log's in its order.
  var segments: [SegmentFigures] { engine.catalog.segments.map { figures(of: $0) } }

  /// What is known of a segment now; for the probe's other parts.
  func figures(of segment: Segment) -> SegmentFigures {
    let footer = segment.facts.footer
    let live = engine.catalog.granules.live(segment)
    return SegmentFigures(
      id: segment.id,
      kind: segment.kind,
      path: segment.path,
      granule: segment.granule,
      isSealed: segment.isSealed,
      isUnmergeable: segment.facts.isUnmergeable,
      recordsEnd: segment.recordsEnd ?? 0,
      firstSequence: segment.firstSequence,
      lastSequence: segment.lastSequence,
      footerOffset: footer.offset,
      footerLength: footer.length,
      minExpiry: footer.minExpiry,
      maxExpiry: footer.maxExpiry,
      neverExpiring: footer.neverExpiring,
      liveBytes: live.bytes,
      liveRecords: live.records
    )
  }

  /// Holds a segment of the store; nil when there is none of that number.
  func hold(_ id: UInt64) -> HeldSegment? {
    engine.catalog.segments.first { $0.id == id }.map { HeldSegment($0) }
  }

  /// What is returned says, whenever it is called, whether anybody holds the segment.
  func watch(_ id: UInt64) -> () -> Bool {
    weak let segment = engine.catalog.segments.first { $0.id == id }
    return { segment != nil }
  }

  /// The first of the granules that a new segment of one would take.
  var lowestFreeGranule: Int? { engine.catalog.takeAddresses(for: 1)?.granules.lowerBound }

  /// Lets reads by address go as far as `length` bytes into a segment.
  func raiseLimit(of segment: HeldSegment, to length: Int) {
    engine.catalog.granules.raiseLimit(of: segment.segment, to: length)
  }

  /// Whether the index could lead to an offset of a segment, in units of eight bytes.
  func canLead(to units: UInt64, of segment: HeldSegment) -> Bool {
    engine.catalog.granules.place(of: segment.segment.startUnits + units) != nil
  }

  /// Counts one live record more than there are in a segment.
  func miscountLive(_ segment: HeldSegment) {
    engine.catalog.granules.countLive(at: segment.segment.startUnits, bytes: 0)
  }

  // MARK: Merging

  /// What one merge did.
  struct MergeOutcome {
    /// Segments that were merged, which may be fewer than were chosen.
    let inputs: Int
    let recordsEvicted: Int
  }

  /// Merges segments in one go, as far as they can be merged.
  @discardableResult
  func merge(_ chosen: [HeldSegment], evicting: Bool = false) throws -> MergeOutcome {
    try engine.merger.whileResting {
      let result = try engine.merger.mergeOnce(
        chosen.map(\.segment),
        MergePace(engine.merger, bytesPerSecond: nil),
        for: evicting ? .eviction : .space
      )
      return MergeOutcome(inputs: result.inputs, recordsEvicted: result.recordsEvicted)
    }
  }

  /// Merges in one go whatever can be merged.
  @discardableResult
  func mergeAll(evicting: Bool = false) throws -> MergeOutcome {
    try merge(engine.catalog.segments.map { HeldSegment($0) }, evicting: evicting)
  }

  /// Does what the background's next step of merging would do; whether there is more to do at once.
  @discardableResult
  func mergeStep() -> Bool {
    if case .now = engine.merger.mergeIfDue() { true } else { false }
  }

  /// Does that, and tells after how many nanoseconds the background looks again; nil if at once, or only when asked.
  func delayAfterMergeStep() -> UInt64? {
    if case .after(let nanoseconds) = engine.merger.mergeIfDue() { nanoseconds } else { nil }
  }

  /// Lets go of what was given up, once nobody reads it any more.
  ///
  /// Who reads is known of the whole process: another test may just be at it.
  func collect() {
    engine.env.epochs.synchronize()
    engine.env.epochs.collect()
  }
}
