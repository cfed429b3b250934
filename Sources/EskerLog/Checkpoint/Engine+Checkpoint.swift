internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

extension Engine {
  /// Buckets copied under one hold of the writer's lock: some tens of microseconds.
  private static let sliceLength = 1024

  /// Bytes of records after which a checkpoint is due: it bounds what a crash makes the next opening read again, and costs
  /// at most a 32nd of what is logged.
  private var checkpointInterval: Int {
    max(256 << 20, index.count * 14 * 32)
  }

  /// Asks for a checkpoint if enough was logged since the last. Called under the writer's lock.
  func checkpointIfDue(_ state: inout WriterState) {
    guard state.bytesLogged - state.bytesLoggedAtCheckpoint >= checkpointInterval else {
      return
    }
    state.bytesLoggedAtCheckpoint = state.bytesLogged
    keeper.request(.checkpoint)
  }

  func writePeriodicCheckpoint() {
    // In a store that evicts, the next eviction would make it useless.
    guard options.capacity == nil else { return }
    opening.withLock {
      guard status.load(ordering: .acquiring) == 0 else { return }
      do throws(StoreError) {
        let id = manifests.withLock { $0.manifest.nextCheckpointID }
        let old = manifests.withLock { $0.manifest.checkpointID }
        guard let (sequence, bytes) = try writeCheckpoint(id: id) else { return }
        try editManifest(.checkpoint(id))
        if old != 0 { try? platform.fileSystem.remove("\(path)/\(FileName.checkpoint(old))") }
        emit(.checkpointWritten(sequence: SequenceNumber(rawValue: sequence), bytes: bytes))
      } catch {
        emit(.backgroundFailure(operation: "write a checkpoint", error))
      }
    }
  }

  /// Writes a checkpoint under its final name, durably, but does not list it. Everything it leads to is durable then.
  ///
  /// - Returns: its sequence number and length; nil when the index is damaged and cannot be written.
  func writeCheckpoint(id: UInt64) throws(StoreError) -> (sequence: UInt64, bytes: Int)? {
    let cut = writer.withLock { state -> CheckpointCut in
      index.splitsPaused = true
      let cut = CheckpointCut(
        sequence: state.nextSequence &- 1 > publishedSequence ? publishedSequence : state.nextSequence &- 1,
        replaySegmentID: state.tail?.id ?? lastLogSegment?.id ?? 0,
        replayOffset: state.tail == nil ? lastLogSegment?.readableEnd ?? 0 : state.offset,
        index: index,
        meta: checkpointMeta()
      )
      state.checkpoint = cut
      return cut
    }
    defer {
      writer.withLock { state in
        state.checkpoint = nil
        index.splitsPaused = false
      }
    }
    let temporary = "\(path)/\(FileName.temporary)"
    let final = "\(path)/\(FileName.checkpoint(id))"
    let length: Int
    do throws(PlatformError) {
      if try platform.fileSystem.status(temporary) != nil { try platform.fileSystem.remove(temporary) }
      let file = try platform.fileSystem.open(temporary, .create)
      defer { file.close() }
      guard let written = try write(cut, id: id, to: file) else {
        try platform.fileSystem.remove(temporary)
        return nil
      }
      length = written
      try file.sync()
      try platform.fileSystem.rename(temporary, to: final)
      try platform.fileSystem.syncDirectory(path)
      bytesWritten.wrappingAdd(length, ordering: .relaxed)
    } catch {
      commits.noteFailure(error)
      try? platform.fileSystem.remove(temporary)
      throw StoreError(error)
    }
    // A checkpoint that ran ahead of the log would lead to records that a power cut took away.
    try commits.waitDurable(cut.sequence)
    return (cut.sequence, length)
  }

  private func checkpointMeta() -> CheckpointMeta {
    CheckpointMeta(
      segments: segments.withLock { list in
        list.map { segment in
          let live = granules.live(segment)
          return CheckpointMeta.Segment(
            id: segment.id,
            salt: segment.salt,
            granule: UInt32(segment.granule),
            liveBytes: UInt64(max(0, live.bytes)),
            liveRecords: UInt64(max(0, live.records))
          )
        }
      },
      keyspaces: keyspaces.withLock { table in
        table.byID.values.map { CheckpointMeta.Keyspace(tag: $0.tag, count: UInt64(max(0, $0.count))) }
      }
    )
  }

  /// Writes the sections and then the header; the file's length, or nil when the index is damaged.
  private func write(_ cut: CheckpointCut, id: UInt64, to file: any File) throws(PlatformError) -> Int? {
    var main = SectionWriter(file: file, offset: CheckpointHeader.pageSize)
    let mainLength = IndexImage.sectionByteCount(lines: cut.bucketCount)
    var overflow = SectionWriter(file: file, offset: CheckpointHeader.pageSize + mainLength)
    var image = OverflowImage()
    var buffer = [UInt8](repeating: 0, count: Self.sliceLength * CheckpointHeader.lineSize)
    while cut.copied < cut.bucketCount {
      let range = cut.copied..<min(cut.copied + Self.sliceLength, cut.bucketCount)
      let isWhole = unsafe buffer.withUnsafeMutableBytes { buffer in
        writer.withLock { _ in
          cut.copied = range.upperBound
          return unsafe index.exportBuckets(range, saved: cut.saved, main: buffer, overflow: &image)
        }
      }
      guard isWhole else { return nil }
      try main.append(buffer, count: range.count * CheckpointHeader.lineSize)
      if image.pendingByteCount >= 1 << 16 { try overflow.drain(&image) }
    }
    try overflow.drain(&image)
    let table = try main.finish() + overflow.finish()
    let tableBytes = table.flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * UInt32($0))) } }
    let meta = cut.meta.encoded()
    let header = unsafe CheckpointHeader(
      storeID: storeID,
      checkpointID: id,
      sequence: cut.sequence,
      replaySegmentID: cut.replaySegmentID,
      replayOffset: UInt64(cut.replayOffset),
      bucketCount: UInt64(cut.bucketCount),
      overflowCount: UInt64(image.lineCount),
      entryCount: UInt64(cut.entryCount),
      level: UInt32(cut.level),
      splitPointer: UInt64(cut.splitPointer),
      metaLength: UInt64(meta.count),
      metaChecksum: CRC32C.checksum(of: meta.span.bytes),
      pageTableChecksum: CRC32C.checksum(of: tableBytes.span.bytes),
      storeTime: time.now
    )
    try file.writeAll(tableBytes, at: Int(header.layout.pageTableOffset))
    try file.writeAll(meta, at: Int(header.layout.metaOffset))
    try file.writeAll(header.encoded(), at: 0)
    return Int(header.layout.fileLength(metaLength: header.metaLength))
  }

  /// Sees to it that the next opening builds the index from the segments, because the checkpoint is damaged.
  func forgetCheckpoint() {
    emit(.damaged(DamageLocation(path: checkpointPath ?? path), reason: "a page of the index checkpoint is damaged"))
    opening.withLock {
      do throws(StoreError) { try editManifest(.noCheckpoint) } catch {
        emit(.backgroundFailure(operation: "remove a damaged checkpoint from the manifest", error))
      }
    }
  }

  var checkpointPath: String? { loadedCheckpoint?.path }
}

/// Writes one section of a checkpoint and gathers its pages' checksums.
private struct SectionWriter {
  let file: any File
  var offset: Int
  var checksums = PageChecksums()

  init(file: any File, offset: Int) {
    self.file = file
    self.offset = offset
  }

  mutating func append(_ bytes: [UInt8], count: Int) throws(PlatformError) {
    try unsafe bytes.withUnsafeBytesTyped { (buffer) throws(PlatformError) in
      try unsafe append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
  }

  mutating func drain(_ image: inout OverflowImage) throws(PlatformError) {
    unsafe try image.drain { (bytes) throws(PlatformError) in try unsafe append(bytes) }
  }

  private mutating func append(_ bytes: UnsafeRawBufferPointer) throws(PlatformError) {
    unsafe checksums.append(bytes)
    try unsafe file.write(bytes, at: offset)
    offset += bytes.count
  }

  mutating func finish() throws(PlatformError) -> [UInt32] {
    let padding = checksums.finish()
    if padding > 0 { try file.writeAll([UInt8](repeating: 0, count: padding), at: offset) }
    return checksums.values
  }
}
