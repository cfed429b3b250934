internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

extension Maintainer {
  /// Seals full segments: writes their footers, makes them durable, and lists them as sealed.
  ///
  /// - Parameter most: How many at most, the oldest ones.
  func sealFull(atMost most: Int = .max) {
    sealing.lock()
    defer { sealing.unlock() }
    for segment in catalog.fullSegments.prefix(most) {
      do throws(StoreError) {
        try env.checkHeld()
        guard let end = segment.recordsEnd else { continue }
        let summary = try writeFooter(segment, behind: end)
        let last = segment.lastSequence
        let extent = 0..<end
        segment.mapping.detach(extent)
        defer { if !env.pages.isBeyondMemory { segment.mapping.populateForReading(extent) } }
        try commits.waitDurable(last, onlyThrough: true)
        do throws(PlatformError) { try segment.sync() } catch {
          commits.noteFailure(error)
          throw StoreError(error)
        }
        segment.change { $0.settle(with: summary.footer) }
        segment.mapping.trim()
        segment.file.rest()
        // In a cache, the edit that lists the next ones says so too: it may be gone before the device has written this one.
        if env.settings.capacity == nil { try catalog.commit(.listed) }
        env.emit(
          .segmentSealed(
            id: segment.id,
            bytes: end,
            records: summary.records
          )
        )
        catalog.fillReserve()
        keydir.reviewPages()
        env.workers.merger.request(.merge)
      } catch {
        if case .suspended = error { return }
        env.emit(.backgroundFailure(operation: "seal a segment", error))
        return
      }
    }
  }

  /// Does something while no segment is being sealed.
  func holdingSealing<R>(_ body: () -> R) -> R {
    sealing.withLock { body() }
  }

  /// Appends a segment's footer after its seal. If there is no room, the segment gets none: a footer only saves time
  /// later.
  private func writeFooter(
    _ segment: Segment,
    behind end: Int
  ) throws(StoreError) -> (footer: FooterSummary, records: Int) {
    let first = segment.firstSequence
    let expected = Int(clamping: segment.lastSequence &- first &+ 1)
    var builder = FooterBuilder(
      segmentID: segment.id,
      salt: segment.salt,
      expectedEntries: min(expected, segment.capacity / 32)
    )
    var offset = SegmentHeader.length
    var records = 0
    // Not by a cursor, which passes over fillers.
    while offset < end, case .record(let header) = segment.readRecord(at: offset, end: end),
      header.kind != .seal
    {
      builder.append(header)
      offset += header.size
      if header.kind != .filler { records += 1 }
    }
    guard offset == end else {
      throw segment.damage(offset, "the records end here, and not at offset \(end)")
    }
    let summary = builder.summary
    var footer = FooterSummary(
      // Behind the seal, which has neither key nor value.
      offset: end + RecordLayout.headerLength,
      length: builder.length,
      minExpiry: summary.minExpiry,
      maxExpiry: summary.maxExpiry,
      neverExpiring: summary.neverExpiring
    )
    let bytes = builder.encoded()
    do throws(PlatformError) {
      guard catalog.hasRoom(for: bytes.count) else {
        throw PlatformError("write", path: segment.path, code: PlatformError.noSpace)
      }
      segment.awaitGrowth()
      segment.footerEnd.store(footer.offset + bytes.count, ordering: .relaxed)
      try segment.file.writeAll(bytes, at: footer.offset)
      // Of a file that another process has cut, less is mapped.
      try? segment.growToFile()
      env.countWritten(bytes.count)
    } catch {
      guard error.isFull else { throw StoreError(error) }
      footer.offset = 0
      footer.length = 0
    }
    return (footer, records)
  }
}
