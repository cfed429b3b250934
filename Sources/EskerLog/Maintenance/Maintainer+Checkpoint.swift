internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

extension Maintainer {
  /// The number of buckets copied each time the writer's lock is held: some tens of microseconds.
  private static let sliceLength = 1024

  func writePeriodicCheckpoint() {
    // In a store that evicts, the next eviction would invalidate it.
    guard env.settings.capacity == nil else { return }
    holdingImages {
      guard env.isWritable else { return }
      do throws(StoreError) {
        let id = catalog.manifest.nextCheckpointID
        let old = catalog.manifest.checkpointID
        guard let (sequence, bytes) = try writeCheckpoint(id: id) else { return }
        try catalog.commit(.checkpoint(id))
        if old != 0 { try? env.platform.fileSystem.remove("\(env.path)/\(FileName.checkpoint(old))") }
        env.emit(.checkpointWritten(sequence: SequenceNumber(rawValue: sequence), bytes: bytes))
      } catch {
        env.emit(.backgroundFailure(operation: "write a checkpoint", error))
      }
    }
  }

  /// Writes a checkpoint under its final name, durably, but does not list it. Everything it points to is durable then.
  ///
  /// - Returns: The checkpoint's sequence number and length in bytes; nil if the index is damaged and cannot be written, or lacks what
  ///   only the log has.
  func writeCheckpoint(id: UInt64) throws(StoreError) -> (sequence: UInt64, bytes: Int)? {
    if keydir.isIncomplete { return nil }
    let (cut, orders) = writer.withLock { state -> (CheckpointCut, [CutOrder]) in
      writer.freeze(&state)
      let orders = keydir.keyspaces.all.compactMap { CutOrder($0) }
      let last = state.tail ?? catalog.lastLogSegment
      let meta = checkpointMeta(state.keys)
      let cut = keydir.beginCut(
        at: min(state.nextSequence &- 1, commits.publishedSequence),
        replaying: (last?.id ?? 0, last.flatMap { state.logTail.recordsEnd(of: $0) } ?? 0),
        meta,
        &state.keys
      )
      return (cut, orders)
    }
    defer { writer.withLock { state in keydir.endCut(&state.keys) } }
    let temporary = "\(env.path)/\(FileName.temporary)"
    let final = "\(env.path)/\(FileName.checkpoint(id))"
    let length: Int
    do throws(PlatformError) {
      if try env.platform.fileSystem.status(temporary) != nil { try env.platform.fileSystem.remove(temporary) }
      let file = try env.platform.fileSystem.open(temporary, .create)
      defer { file.close() }
      guard let written = try write(cut, orders, id: id, to: file) else {
        try env.platform.fileSystem.remove(temporary)
        return nil
      }
      length = written
      try file.sync()
      try env.platform.fileSystem.rename(temporary, to: final)
      try env.platform.fileSystem.syncDirectory(env.path)
      env.countWritten(length)
    } catch {
      commits.noteFailure(error)
      try? env.platform.fileSystem.remove(temporary)
      throw StoreError(error)
    }
    // A checkpoint ahead of the log would point to records that a power failure has lost. Keys in order lack those that were removed
    // until they were written: a power failure must not bring these back. A key goes before its removal is published, under the lock.
    let published = writer.withLock { _ in commits.publishedSequence }
    let last = orders.isEmpty ? cut.sequence : published
    try commits.waitDurable(last)
    latest.withLock { $0 = CheckpointPlace(cut, id: id) }
    return (cut.sequence, length)
  }

  private func checkpointMeta(_ keys: borrowing KeydirState) -> CheckpointMeta {
    CheckpointMeta(
      segments: catalog.segments.map { segment in
        let live = catalog.granules.live(segment)
        return CheckpointMeta.Segment(
          id: segment.id,
          salt: segment.salt,
          granule: UInt32(segment.granule),
          liveBytes: UInt64(max(0, live.bytes)),
          liveRecords: UInt64(max(0, live.records))
        )
      },
      keyspaces: keydir.keyspaces.all.map { core in
        CheckpointMeta.Keyspace(
          tag: core.tag,
          count: UInt64(max(0, core.count)),
          byteCount: UInt64(max(0, core.byteCount)),
          earliestExpiry: core.expiry.earliest,
          hashes: keydir.keyHashes(of: core, core.tag, keys)
        )
      }
    )
  }

  /// Writes the sections and then the header; returns the file's length in bytes, or nil if the index is damaged.
  private func write(
    _ cut: CheckpointCut,
    _ orders: [CutOrder],
    id: UInt64,
    to file: any File
  ) throws(PlatformError) -> Int? {
    var main = SectionWriter(file: file, offset: CheckpointHeader.pageSize)
    let mainLength = IndexImage.sectionByteCount(lines: cut.bucketCount)
    var overflow = SectionWriter(file: file, offset: CheckpointHeader.pageSize + mainLength)
    var image = OverflowImage()
    var buffer = [UInt8](repeating: 0, count: Self.sliceLength * CheckpointHeader.lineSize)
    while cut.copied < cut.bucketCount {
      let range = cut.copied..<min(cut.copied + Self.sliceLength, cut.bucketCount)
      // Safety: the buffer has room for a slice's lines, and nobody else uses it during the closure.
      let isWhole = unsafe buffer.withUnsafeMutableBytes { buffer in
        writer.withLock { state in
          unsafe keydir.copy(range, of: cut, main: buffer, overflow: &image, state.keys)
        }
      }
      // A suspension does not wait for a whole checkpoint; the next one comes in its time.
      guard isWhole, !env.isSuspended else { return nil }
      try main.append(buffer, count: range.count * CheckpointHeader.lineSize)
      if image.pendingByteCount >= 1 << 16 { try overflow.drain(&image) }
    }
    try overflow.drain(&image)
    let table = try main.finish() + overflow.finish()
    let tableBytes = table.flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * UInt32($0))) } }
    var meta = cut.meta
    let index = CheckpointLayout(bucketCount: UInt64(cut.bucketCount), overflowCount: UInt64(image.lineCount))
    let orderStart = Int(index.overflowOffset + index.overflowLength)
    let orderEnd = try write(orders, to: file, at: orderStart, of: id, in: &meta)
    let metaBytes = meta.encoded()
    // Safety: the checksums read no more than there is of the arrays, which are kept.
    let header = CheckpointHeader(
      storeID: env.storeID,
      checkpointID: id,
      sequence: cut.sequence,
      replaySegmentID: cut.replaySegmentID,
      replayOffset: UInt64(cut.replayOffset),
      bucketCount: UInt64(cut.bucketCount),
      overflowCount: UInt64(image.lineCount),
      entryCount: UInt64(cut.entryCount),
      level: UInt32(cut.level),
      splitPointer: UInt64(cut.splitPointer),
      metaLength: UInt64(metaBytes.count),
      metaChecksum: unsafe metaBytes.withUnsafeBytes { unsafe CRC32C.checksum(of: $0) },
      pageTableChecksum: unsafe tableBytes.withUnsafeBytes { unsafe CRC32C.checksum(of: $0) },
      storeTime: env.time.now,
      orderLength: UInt64(orderEnd - orderStart)
    )
    try file.writeAll(tableBytes, at: Int(header.layout.pageTableOffset))
    try file.writeAll(metaBytes, at: Int(header.layout.metaOffset))
    try file.writeAll(header.encoded(), at: 0)
    return Int(header.layout.fileLength(metaLength: header.metaLength))
  }

  /// Makes the next opening build the index from the segments, because the checkpoint is damaged.
  func forgetCheckpoint() {
    env.emit(
      .damaged(
        StoreError.Location(path: keydir.loadedCheckpoint?.path ?? env.path),
        reason: "a page of the index checkpoint is damaged"
      )
    )
    holdingImages {
      do throws(StoreError) { try catalog.commit(.noCheckpoint) } catch {
        env.emit(.backgroundFailure(operation: "remove a damaged checkpoint from the manifest", error))
      }
    }
  }

  /// Removes the index checkpoint, which only saves time at the next opening; false if there is none.
  func dropCheckpoint() throws(StoreError) -> Bool {
    let id = try holdingImages { () throws(StoreError) -> UInt64 in
      let id = catalog.manifest.checkpointID
      if id != 0 {
        catalog.note(unlistedFiles: [catalog.checkpointPath(id)])
        try catalog.commit(.noCheckpoint)
      }
      return id
    }
    catalog.removeCheckpoint(id)
    return id != 0
  }
}

/// Writes one section of a checkpoint and collects the checksums of its pages.
///
/// Safety: the array or the image keeps its bytes while the closure borrows them, and neither the file nor the checksums
/// do longer. A slice of a buffer traps if the buffer is shorter.
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
