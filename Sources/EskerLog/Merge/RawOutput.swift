internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

/// An unpacked segment that a merge is writing.
///
/// It is written through a buffer, not through a mapping, since it is not read before it is finished.
///
/// Safety: the object owns the buffer from `init` to `deinit`; the first `buffered` bytes are in use.
/// ``append(_:key:value:bodyChecksum:)`` makes room for the whole record first, at a multiple of eight, since all records
/// have such sizes, and the file keeps no pointer to what it writes.
@safe
final class RawOutput: MergeOutput {
  private let catalog: Catalog
  private let id: UInt64
  let path: String
  private let salt: UInt32
  private let file: any File
  /// True once the file belongs to a segment.
  private var isFinished = false
  private let lease: AddressSpace.Lease
  private let capacity: Int
  private var footer: FooterBuilder
  /// The number of bytes written to the file.
  private var written = 0
  /// The offset up to which writing back to the device was started, so that the sync at the end has little left to do.
  private var begun = 0
  private static let writeBackStep = 4 << 20
  /// What no look-up uses, in order.
  private var cold: [Range<Int>] = []
  private var buffer: UnsafeMutableRawBufferPointer
  private var buffered = 0

  /// Small enough to stay in the processor's cache.
  private static let bufferLength = 256 << 10

  /// Creates the file; neither its header nor its name is durable yet.
  init(_ catalog: Catalog, for size: Int) throws(StoreError) {
    self.catalog = catalog
    capacity = max(catalog.usualSegmentSize, SegmentHeader.length + size)
    guard let lease = catalog.takeAddresses(for: capacity) else {
      throw .noSpace(path: catalog.env.path, needed: size)
    }
    self.lease = lease
    id = catalog.takeSegmentID()
    path = "\(catalog.env.path)/\(FileName.segment(id))"
    salt = UInt32(truncatingIfNeeded: catalog.env.platform.random())
    footer = FooterBuilder(segmentID: id, salt: salt)
    do throws(PlatformError) { file = try catalog.env.platform.fileSystem.open(path, .create) } catch {
      throw StoreError(error, needed: size)
    }
    unsafe buffer = .allocate(byteCount: max(Self.bufferLength, size), alignment: 8)
    let header = SegmentHeader(
      storeID: catalog.env.storeID,
      seed: catalog.env.seed,
      segmentID: id,
      salt: salt,
      kind: .merged,
      creationTime: catalog.env.time.now,
      plannedCapacity: UInt64(capacity)
    )
    unsafe buffer.copyBytes(from: header.encoded())
    buffered = SegmentHeader.length
  }

  deinit {
    unsafe buffer.deallocate()
  }

  /// The offset of the next record.
  private var end: Int { written + buffered }

  func hasRoom(for size: Int) -> Bool { end + size <= capacity }

  /// Writes a record and returns its address.
  func append(
    _ header: RecordHeader,
    key: UnsafeRawBufferPointer,
    value: UnsafeRawBufferPointer,
    bodyChecksum: UInt32?,
    isWarm: Bool
  ) throws(StoreError) -> UInt64 {
    let size = header.size
    if unsafe buffered + size > buffer.count { try flush(makingRoomFor: size) }
    guard let place = unsafe buffer.baseAddress.map({ unsafe $0 + buffered }) else {
      throw Keydir.outOfMemory(catalog.env)
    }
    let offset = end
    let firstWord = unsafe RecordEncoder.write(
      header,
      key: key,
      value: value,
      bodyChecksum: bodyChecksum ?? RecordEncoder.bodyChecksum(key: key, value: value),
      salt: salt,
      offsetUnits: UInt32(truncatingIfNeeded: offset >> 3),
      to: place
    )
    unsafe RecordEncoder.publish(firstWord, at: place)
    footer.append(header)
    buffered += size
    if !isWarm { noteCold(offset..<offset + size) }
    return UInt64(lease.granules.lowerBound) << GranuleTable.granuleShift + UInt64(offset >> 3)
  }

  private func noteCold(_ range: Range<Int>) {
    if let last = cold.last, last.upperBound == range.lowerBound {
      cold[cold.count - 1] = last.lowerBound..<range.upperBound
    } else {
      cold.append(range)
    }
  }

  private func flush(makingRoomFor size: Int = 0) throws(StoreError) {
    do throws(PlatformError) {
      var done = 0
      while done < buffered {
        // The kernel keeps together what is written at once, and lets none of it go while a part is in use.
        let rest = MemoryPage.size - (written + done) % MemoryPage.size
        let end = catalog.env.pages.isBeyondMemory ? min(buffered, done + rest) : buffered
        unsafe try file.write(UnsafeRawBufferPointer(rebasing: buffer[done..<end]), at: written + done)
        done = end
      }
    } catch {
      throw StoreError(error, needed: buffered)
    }
    catalog.env.countWritten(buffered)
    written += buffered
    buffered = 0
    if written - begun >= Self.writeBackStep {
      file.beginWriteBack(begun..<written)
      begun = written
    }
    if unsafe size > buffer.count {
      unsafe buffer.deallocate()
      unsafe buffer = .allocate(byteCount: size, alignment: 8)
    }
  }

  func finish() throws(StoreError) -> Segment {
    try flush()
    let recordsEnd = written
    let summary = footer.summary
    let bytes = footer.encoded()
    let segment: Segment
    do throws(PlatformError) {
      try file.writeAll(bytes, at: recordsEnd)
      try file.sync()
      let mapping = try file.map(capacity: max(capacity, recordsEnd), writable: false)
      try mapping.extend(to: recordsEnd)
      mapping.trim()
      segment = Segment(
        id: id,
        kind: .merged,
        salt: salt,
        path: path,
        file: file,
        mapping: mapping,
        pages: catalog.env.pages,
        capacity: capacity,
        lease: lease,
        created: catalog.env.time.now
      )
      if catalog.env.pages.isBeyondMemory {
        for range in cold where range.count >= MemoryPage.size { file.letGo(range) }
      } else {
        mapping.populateForReading(0..<recordsEnd)
      }
    } catch {
      catalog.commits.noteFailure(error)
      throw StoreError(error, needed: bytes.count)
    }
    catalog.env.countWritten(bytes.count)
    isFinished = true
    segment.change { $0.settle(as: summary, recordsEnd: recordsEnd, footerLength: bytes.count) }
    file.rest()
    catalog.granules.install(segment)
    return segment
  }

  func settle(_ move: inout MergeMove) {}

  func discard() {
    // A snapshot may hold a finished segment.
    if !isFinished { file.close() }
    // A file that stays behind is not listed, and the next opening removes it.
    try? catalog.env.platform.fileSystem.remove(path)
  }
}
