internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

extension Recovery {
  /// Makes syncs trustworthy again if the last writer ended during a sync or after a failed one.
  ///
  /// The kernel may have marked pages clean that it could not write: the page cache then shows records that are not on
  /// disk, and a later sync would succeed without writing them. If a sync is known to have failed, the records above
  /// `durable` are copied to a new segment, which is synced before the originals are cut off and before any call is
  /// served: the device may be able to write in one place what it could not in another. If there is no room for a copy,
  /// they are rewritten in place and synced. If a sync was only in progress, it is enough to make their pages dirty
  /// again: nothing above `durable` counts as durable before a sync by this process has written them.
  ///
  /// - Returns: The number of records rewritten.
  func rewriteUnsynced(durable: UInt64, published: UInt64) throws(StoreError) -> Int {
    guard let session = env.session, session.distrustsCache else { return 0 }
    guard published > durable else {
      session.trustsCacheAgain()
      return 0
    }
    let doubtful = catalog.segments.filter { $0.lastSequence > durable }
    let places = doubtful.map { firstOffset(after: durable, in: $0) }
    guard session.knowsOfFailure else {
      for (segment, start) in zip(doubtful, places) { try writeAgain(segment, from: start) }
      session.trustsCacheAgain()
      return 0
    }
    var count = 0
    var copied: [(Segment, Int)] = []
    for (segment, start) in zip(doubtful, places) {
      do throws(StoreError) {
        count += try rewrite(segment, from: start, above: durable)
        copied.append((segment, start))
      } catch {
        guard error.bytesLacking != nil else { throw error }
        count += try writeAgainDurably(segment, from: start, above: durable)
      }
    }
    commits.noteDurable(published)
    for (segment, start) in copied {
      if segment.firstSequence > durable {
        catalog.discardLater([segment.path])
        catalog.remove([segment])
        catalog.uninstall(segment)
      } else {
        settleEnd(of: segment, at: .init(offset: start, last: lastNumber(in: segment, before: start) ?? durable))
      }
    }
    let next = writer.withLock { $0.nextSequence }
    try catalog.commit(.beginWriting(nextSequence: next))
    catalog.removeDiscarded()
    session.trustsCacheAgain()
    return count
  }

  /// Rewrites a segment's bytes from `start` on in place.
  ///
  /// Does not use the mapping: pages of it that could not be read in show zeros.
  private func writeAgain(_ segment: Segment, from start: Int) throws(StoreError) {
    let end = segment.readableEnd
    // Small enough to stay in the cache between the two copies.
    var buffer = [UInt8](repeating: 0, count: 128 << 10)
    try translating { () throws(PlatformError) in
      for offset in stride(from: start, to: end, by: buffer.count) {
        try segment.file.writeAgain(offset..<min(offset + buffer.count, end), through: &buffer)
      }
    }
  }

  /// Like `writeAgain`, but also syncs; returns the number of records.
  ///
  /// - Throws: an input error, if a record cannot be read a second time.
  private func writeAgainDurably(
    _ segment: Segment,
    from start: Int,
    above durable: UInt64
  ) throws(StoreError) -> Int {
    try writeAgain(segment, from: start)
    try syncAnew(segment)
    var records = RecordCursor(segment, from: start, to: segment.readableEnd)
    var count = 0
    while let (_, header) = records.next(), header.kind != .seal { count += 1 }
    try expectAll(count, of: segment, above: durable)
    return count
  }

  /// Throws unless these are all records of a segment above `durable`.
  ///
  /// Replay has read each of them intact, and their numbers have no gap. The kernel may drop at any time what it failed to write, so a
  /// record that is missing now was never on disk; but those who wrote it, or have read it, do not know that. Only a truncated segment,
  /// which was reported, may have lost some before.
  private func expectAll(_ count: Int, of segment: Segment, above durable: UInt64) throws(StoreError) {
    let before = max(durable, max(1, segment.firstSequence) - 1)
    guard UInt64(count) != segment.lastSequence - before, !segment.isShort.load(ordering: .relaxed),
      // There are numbers without a record where others have taken their place.
      segment.reuseWords.last == 0
    else { return }
    throw StoreError(PlatformError("read", path: segment.path, code: PlatformError.inputOutput))
  }

  /// The lowest number from a place on: not that of the first record, where some have replaced others.
  private func lowestNumber(in segment: Segment, from start: Int) -> UInt64? {
    var records = RecordCursor(segment, from: start, to: segment.readableEnd)
    var lowest: UInt64?
    while let (_, header) = records.next(), header.kind != .seal { lowest = min(lowest ?? .max, header.sequence) }
    return lowest
  }

  /// The highest number in front of a place; nil if damage hides it. Where records have replaced others, some durable ones may stand
  /// behind the place, or be gone.
  private func lastNumber(in segment: Segment, before end: Int) -> UInt64? {
    var records = RecordCursor(segment, to: end)
    var last: UInt64?
    while let (_, header) = records.next() { last = max(last ?? 0, header.sequence) }
    return records.offset < end ? nil : last
  }

  private func syncAnew(_ segment: Segment) throws(StoreError) {
    do throws(PlatformError) { try segment.sync() } catch {
      commits.fail(error.code)
      throw StoreError(error)
    }
  }

  /// Copies the records of a segment from `start` on to a new segment and syncs that; returns the number of records.
  ///
  /// Each segment gets its own copy, since numbers may have a gap between two segments, but never within one.
  ///
  /// - Throws: an input error, if a record cannot be read a second time.
  private func rewrite(_ segment: Segment, from start: Int, above durable: UInt64) throws(StoreError) -> Int {
    let total = max(0, segment.readableEnd - start)
    var records = RecordCursor(segment, from: start, to: segment.readableEnd)
    guard case .record(let first) = records.peek() else {
      try expectAll(0, of: segment, above: durable)
      return 0
    }
    let lowest = lowestNumber(in: segment, from: start) ?? first.sequence
    let fresh = try catalog.createSegment(for: total, firstSequence: lowest, isRecovery: true)
    do throws(PlatformError) {
      try fresh.grow(to: SegmentHeader.length + total + Segment.tailReserve, in: catalog.granules)
    } catch {
      catalog.remove([fresh])
      catalog.discard(fresh)
      throw StoreError(error, needed: total)
    }
    var target = SegmentHeader.length
    var last = first.sequence
    var count = 0
    while let (offset, header) = records.next(), header.kind != .seal {
      try copy(header, from: segment, at: offset, to: fresh, at: target)
      last = max(last, header.sequence)
      target += header.size
      count += 1
    }
    try expectAll(count, of: segment, above: durable)
    settleEnd(of: fresh, at: .init(offset: target, last: last))
    try syncAnew(fresh)
    return count
  }

  /// The offset of the first record above `sequence`, or of the place where reading ends. Damaged records before it are
  /// skipped, since they are not above it.
  func firstOffset(after sequence: UInt64, in segment: Segment) -> Int {
    if segment.firstSequence > sequence { return SegmentHeader.length }
    var records = RecordCursor(segment, to: segment.readableEnd)
    while true {
      let place = records.offset
      if let (_, header) = records.next() {
        if header.sequence > sequence { return place }
      } else {
        records.seek()
        if records.offset >= records.end { return place }
      }
    }
  }

  /// Copies a record, and points the index to the copy.
  ///
  /// Safety: `rewrite` has made room for as many bytes as there are to read in `old`, and the records that it copies lie
  /// there one after the other. No other thread uses the room yet. The view lies within `old`, which keeps its mapping.
  ///
  /// - Throws: an input error, if the record cannot be read a second time.
  private func copy(
    _ header: RecordHeader,
    from old: Segment,
    at offset: Int,
    to fresh: Segment,
    at target: Int
  ) throws(StoreError) {
    guard let view = old.view(at: offset, end: old.readableEnd), view.size == header.size else {
      throw StoreError(PlatformError("read", path: old.path, code: PlatformError.inputOutput))
    }
    let place = unsafe fresh.base + target
    let firstWord = unsafe RecordEncoder.write(
      header,
      key: view.key,
      value: view.value,
      // The original checksum, so that bytes changed since do not pass for intact.
      bodyChecksum: view.bodyChecksum,
      salt: fresh.salt,
      offsetUnits: UInt32(target >> 3),
      to: place
    )
    unsafe RecordEncoder.publish(firstWord, at: place)
    let from = old.startUnits + UInt64(offset >> 3)
    let to = fresh.startUnits + UInt64(target >> 3)
    guard header.kind == .put else { return }
    writer.withLock { state in
      _ = keydir.move(header.keyHash, from: (from, header.size), to: (to, header.size), state.keys)
    }
  }
}
