import EskerFormat
import EskerPlatform

@testable import EskerLog

/// The log's end, where the writer is.
extension StoreProbe {
  /// The segment that is written to; nil when there is none.
  var tail: HeldSegment? { engine.writer.withLock { $0.tail }.map { HeldSegment($0) } }

  /// The number of the segment that is written to; nil when there is none.
  var tailID: UInt64? { engine.writer.withLock { $0.tail?.id } }

  /// Where the next record goes in the segment that is written to; nil when there is none.
  var tailEnd: Int? { engine.writer.withLock { $0.tail == nil ? nil : $0.offset } }

  /// Where the records of the segment that is written to stand, and its marks.
  var tailRecords: [(offset: Int, header: RecordHeader)] {
    let (tail, end) = engine.writer.withLock { ($0.tail, $0.offset) }
    guard let tail else { return [] }
    var cursor = RecordCursor(tail, to: end, stopsAtMarks: true)
    var list: [(offset: Int, header: RecordHeader)] = []
    while let next = cursor.next() { list.append(next) }
    return list
  }

  /// Bytes of the segment that is written to.
  func tailBytes(in range: Range<Int>) throws -> [UInt8] {
    try engine.writer.withLock { $0.tail }.map { tail in try tail.bytes(in: range) } ?? []
  }

  /// The pins of the process.
  var epochs: EpochDomain { engine.env.epochs }

  /// Looks whether other processes read the store, as a writer does now and then.
  func lookForReaders() { engine.writer.rolling.withLock { engine.writer.lookForReaders() } }

  /// How many records have taken the room of others.
  var recordsReplaced: Int { engine.writer.withLock { $0.recordsReplaced } }

  /// Bytes of records that the segment that is written to has room for.
  var tailRoom: Int { engine.writer.withLock { ($0.tail?.capacity ?? 0) - $0.offset } - Segment.tailReserve }

  /// Whether a record could be appended at once: there is a segment for it, and the manifest says that the store is written.
  var isReadyToAppend: Bool { engine.writer.withLock { $0.isMarkedOpen && $0.tail != nil } }

  /// The number of the next record.
  var nextSequence: UInt64 { engine.writer.withLock { $0.nextSequence } }

  /// Segments that are listed and ready to be written to next.
  var spares: [SegmentFigures] { engine.writer.withLock { $0.spares }.map { figures(of: $0) } }

  /// Ends the segment that is written to, if it holds anything, so that it can be merged.
  func endTail() throws(StoreError) { try engine.merger.endTail() }

  /// Ends the segment that is written to and goes on in the next; it stays unsealed in the manifest.
  func rotate() throws(StoreError) {
    try engine.writer.rolling.withLock { () throws(StoreError) in try engine.writer.rotate(for: 0) }
  }

  /// Ends the segment that is written to; the next write starts another.
  func sealTail() { engine.writer.sealTail() }

  /// Writes the footers of full segments and lists them as sealed, as the background does.
  func sealFinished() { engine.maintainer.sealFull() }

  /// How many segments merges and evictions have removed.
  var segmentsRemoved: Int { engine.merger.figures.report.segmentsRemoved }

  /// How often a walk under the writer's lock has let others take it.
  var pauses: Int { engine.env.workers.maintainer.yields.load(ordering: .relaxed) }

  /// Has a segment ready for when the one that is written to is full, as the background does.
  func prepareSpare() { engine.writer.prepareSegment() }

  /// Gives up the segments that are ready to be written to next.
  func dropSpares() throws(StoreError) { try engine.writer.dropSpares() }

  /// Whether the capacity leaves room for so many bytes besides all files.
  func hasRoom(for bytes: Int) -> Bool { engine.catalog.hasRoom(for: bytes) }

  /// Bytes by which segments may still grow, in whole pages.
  var plannedBytes: Int {
    let catalog = engine.catalog
    return catalog.segments.reduce(0) { $0 + max(0, Catalog.wholePages($1.extent) - catalog.bytes(of: $1.path)) }
  }

  /// Makes room in a store of limited capacity.
  ///
  /// - Parameter error: what is thrown where there can be none.
  func makeRoom(for length: Int, isVolumeFull: Bool = false, orThrow error: StoreError) throws(StoreError) {
    try engine.merger.makeRoom(for: length, isVolumeFull: isVolumeFull, orThrow: error)
  }

  /// Runs a write, and again once room was made for it, until it finds some.
  func makingRoom(_ write: () throws(StoreError) -> Void) throws(StoreError) { try engine.makingRoom(write) }

  /// Up to where the tail's pages were brought in ahead of writers.
  var tailPopulated: Int? { engine.writer.withLock { $0.tail?.populated.load(ordering: .relaxed) } }

  /// Whether the store knows of writers that wait for syncs.
  var hasDemandForSyncs: Bool { engine.commits.hasDemand }

  /// Bytes that are set aside for removals and merges on a full volume.
  var reserveLength: Int { engine.catalog.reserveLength }

  /// Publishes a record that says its batch goes on, and nothing after it: what a writer leaves that is killed there.
  func appendUnfinishedBatch(key: [UInt8], value: [UInt8]) {
    guard tailID != nil else { return }
    let header = RecordHeader(
      sequence: 0,
      kind: .put,
      keyHash: 1,
      keyLength: key.count,
      valueLength: value.count,
      batchContinues: true
    )
    append([(header, key, value)])
  }

  /// Appends records that the store does not know of: the index does not lead to them, and nobody is told.
  ///
  /// They are numbered as any others, except where the header has a number of its own; then numbers go on from there.
  func append(_ records: [(header: RecordHeader, key: [UInt8], value: [UInt8])]) {
    for (header, key, value) in records {
      var header = header
      let sequence = header.sequence
      _ = try? engine.writer.writing { (isAlone) throws(StoreError) -> WriteAttempt<Void> in
        try engine.writer.withLock { (state) throws(StoreError) in
          guard try engine.writer.hasRoom(for: header.size, isAlone: isAlone, &state) else {
            return .lacksSpace(header.size)
          }
          if sequence > 0 { state.forge(nextSequence: sequence) }
          key.withUnsafeBytes { key in
            value.withUnsafeBytes { value in
              let checksum = RecordEncoder.bodyChecksum(key: key, value: value)
              _ = try? engine.writer.append(&header, key, value, checksum, false, &state)
            }
          }
          return .done(())
        }
      }
    }
  }
}
