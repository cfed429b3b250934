internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

/// A packed segment that a merge is writing.
///
/// The place of a tiny record is known only when its cell is full, so records get their addresses at the end.
final class PackedOutput: MergeOutput {
  /// The least number of bytes to write at once.
  private static let step = 1 << 20

  private let catalog: Catalog
  private let id: UInt64
  let path: String
  private let file: any File
  /// True once the file belongs to a segment.
  private var isFinished = false
  private var writer: PackedSegmentWriter?
  private var count: UInt64 = 0
  private var written = 0
  private var startUnits: UInt64 = 0
  private var placements: [PackedSegmentWriter.Placement] = []
  /// Bytes of records that look-ups use, and of others. Packing mixes them, so all are kept in memory, or none.
  private var warmBytes = 0
  private var coldBytes = 0

  /// Creates the file; neither its header nor its name is durable yet.
  init(_ catalog: Catalog, dictionary: [UInt8], level: LZ4Level) throws(StoreError) {
    self.catalog = catalog
    id = catalog.takeSegmentID()
    path = "\(catalog.env.path)/\(FileName.segment(id))"
    let header = SegmentHeader(
      storeID: catalog.env.storeID,
      seed: catalog.env.seed,
      segmentID: id,
      salt: UInt32(truncatingIfNeeded: catalog.env.platform.random()),
      kind: .packed,
      creationTime: catalog.env.time.now,
      plannedCapacity: 0
    )
    do throws(PlatformError) { file = try catalog.env.platform.fileSystem.open(path, .create) } catch {
      throw StoreError(error, needed: SegmentHeader.length)
    }
    writer = PackedSegmentWriter(header: header, dictionary: dictionary, level: level)
  }

  func hasRoom(for size: Int) -> Bool { (writer?.length ?? .max) <= catalog.usualSegmentSize - size }

  func append(
    _ header: RecordHeader,
    key: UnsafeRawBufferPointer,
    value: UnsafeRawBufferPointer,
    bodyChecksum: UInt32?,
    isWarm: Bool
  ) throws(StoreError) -> UInt64 {
    // Safety: the caller keeps both buffers during the call, and the writer copies them.
    unsafe writer?.append(header, key: key, value: value)
    if isWarm { warmBytes += header.size } else { coldBytes += header.size }
    if let pending = writer?.pendingOutput, pending >= Self.step, let bytes = writer?.takeOutput() { try write(bytes) }
    defer { count += 1 }
    return count
  }

  private func write(_ bytes: [UInt8]) throws(StoreError) {
    do throws(PlatformError) { try file.writeAll(bytes, at: written) } catch {
      throw StoreError(error, needed: bytes.count)
    }
    written += bytes.count
    catalog.env.countWritten(bytes.count)
  }

  func finish() throws(StoreError) -> Segment {
    guard var finished = writer.take()?.finish() else { throw .closed }
    try write(finished.output)
    let recordsEnd = written
    try write(finished.footer)
    guard let lease = catalog.takeAddresses(for: written) else {
      throw .noSpace(path: catalog.env.path, needed: written)
    }
    finished.header.plannedCapacity = UInt64(written)
    let segment: Segment
    do throws(PlatformError) {
      // The header comes last: without it the file is no segment.
      try file.writeAll(finished.header.encoded(), at: 0)
      try file.sync()
      let mapping = try file.map(capacity: written, writable: false)
      try mapping.extend(to: recordsEnd)
      segment = Segment(
        id: id,
        kind: .packed,
        salt: finished.header.salt,
        layout: finished.header.layout,
        plainBytes: Int(clamping: finished.header.plainBytes),
        path: path,
        file: file,
        mapping: mapping,
        pages: catalog.env.pages,
        capacity: written,
        lease: lease,
        created: finished.header.creationTime
      )
      if !catalog.env.pages.isBeyondMemory {
        mapping.populateForReading(0..<recordsEnd)
      } else if coldBytes > warmBytes {
        file.letGo(0..<written)
      }
    } catch {
      catalog.commits.noteFailure(error)
      throw StoreError(error, needed: SegmentHeader.length)
    }
    isFinished = true
    segment.change { $0.settle(as: finished.summary, recordsEnd: recordsEnd, footerLength: written - recordsEnd) }
    file.rest()
    catalog.granules.install(segment)
    startUnits = segment.startUnits
    placements = finished.placements
    return segment
  }

  func settle(_ move: inout MergeMove) {
    let placement = placements[Int(move.to)]
    move.to = startUnits + UInt64(placement.offset >> 3)
    move.toSize = UInt32(placement.size)
  }

  func discard() {
    // A snapshot may hold a finished segment.
    if !isFinished { file.close() }
    // A file that stays behind is not listed, and the next opening removes it.
    try? catalog.env.platform.fileSystem.remove(path)
  }
}

extension Options.Compression {
  var codecLevel: LZ4Level? {
    guard let level else { return nil }
    return level < 3 ? .fast : .high(Int32(level))
  }
}
