internal import EskerFormat
internal import EskerPlatform

// What the guide calls erasing.

extension Merger {
  // MARK: On demand

  func erase(progress: ((Double) -> Bool)?) throws(StoreError) -> Report.Erasure {
    defer {
      // Removed files take space, and have what was erased, until they are closed.
      catalog.closeRemoved()
      env.deliverEvents()
    }
    try env.checkWritable()
    let merged = try whileResting { () throws(StoreError) -> Erasure in
      // The store may have been closed while this waited for the lock.
      try env.checkWritable()
      var erasure = try beginErasure()
      repeat {
        if let progress, !progress(erasure.share) { throw .cancelled }
      } while try step(&erasure)
      _ = progress?(1)
      return erasure
    }
    catalog.closeRemoved()
    return report(merged)
  }

  private func report(_ erasure: Erasure) -> Report.Erasure {
    Report.Erasure(
      through: SequenceNumber(rawValue: erasure.through),
      merged: erasure.merged,
      pinnedBytes: catalog.pinnedBytes
    )
  }

  // MARK: In the background

  /// How often all that is dead is erased, in milliseconds: what dies right after one erasure began is gone with the end of the next.
  private var erasureInterval: Int64? {
    guard case .within(let time) = env.options.erasure else { return nil }
    return max(1, time.wholeMilliseconds / 2)
  }

  /// Begins an erasure if it is time for one, or goes on with one. False if there is nothing to do. Called with `merging` held.
  func eraseIfDue() throws(StoreError) -> Bool {
    guard let interval = erasureInterval else { return false }
    let now = env.checkedNow
    // A clock that was set back must not put it off.
    guard erasure != nil || now >= nextErasure || nextErasure.subtractingClamped(now) > interval else { return false }
    // Before it begins: one that cannot begin is not tried again at once.
    if erasure == nil { nextErasure = now.addingClamped(interval) }
    var current: Erasure
    do throws(StoreError) {
      if let erasure { current = erasure } else { current = try beginErasure() }
      erasure = nil
      if try step(&current) {
        erasure = current
        return true
      }
    } catch {
      erasure = nil
      // Damage will be there soon after, too.
      if case .damaged = error { throw error }
      nextErasure = now.addingClamped(1000)
      throw error
    }
    guard current.merged.segmentsRemoved > 0 else { return true }
    let duration = env.platform.clock.monotonicNanoseconds() &- current.began
    env.emit(.erased(report(current), duration: .nanoseconds(Int64(clamping: duration))))
    return true
  }

  /// The sooner of a time to look again and that of the next erasure.
  func untilErasure(or next: BackgroundWorker.Next) -> BackgroundWorker.Next {
    guard let interval = erasureInterval else { return next }
    let left = max(1, min(interval, 3_600_000, nextErasure.subtractingClamped(env.time.now)))
    return next.sooner(.after(UInt64(left) * 1_000_000))
  }

  // MARK: Both

  /// Finds the segments that have anything dead. Called with `merging` held.
  private func beginErasure() throws(StoreError) -> Erasure {
    let began = env.platform.clock.monotonicNanoseconds()
    let through = commits.publishedSequence
    // Files that a crash left behind stay until the first edit.
    if catalog.hasDiscarded { try writer.open() }
    // Entries of emptied keyspaces count as live until they are out of the index.
    if keydir.needsPurge { maintainer.purgeEmptiedKeyspaces() }
    // What makes room next is in no merge.
    if let last = catalog.evictions.lastIndex(where: holdsDead) {
      for _ in 0...last { _ = try removeEvicted() }
    }
    if tailHoldsDead { try endTail() }
    let tail = writer.withLock { $0.logTail }.segment
    let ended = catalog.segments.filter { segment in
      let first = segment.firstSequence
      return segment !== tail && first != 0 && (segment.kind != .log || first <= through)
    }
    // The writer may just have ended one, and what a recovery found may not be durable yet.
    maintainer.sealFull()
    try commits.waitDurable(through, onlyThrough: true)
    let pending = ended.filter { $0.layout.dictionaryLength > 0 || holdsDead($0) || hasResidue($0) }
    return Erasure(through: through, at: began, pending: Set(pending.map(\.id)))
  }

  /// Merges some of the segments that are left; false if none is. Called with `merging` held.
  ///
  /// - Throws: at the end, if some could not be merged.
  private func step(_ erasure: inout Erasure) throws(StoreError) -> Bool {
    var group = nextGroup(of: erasure)
    // What a cache writes needs room, too.
    while !group.isEmpty, !catalog.hasRoom(for: group.reduce(4096) { $0 + catalog.granules.live($1).bytes }),
      try evictNext()
    {
      group = nextGroup(of: erasure)
    }
    if group.isEmpty {
      let copied = catalog.segments.filter {
        $0.kind != .log && $0.facts.mergedThrough >= erasure.through && holdsDead($0)
      }
      if erasure.beginSecondRound(with: Set(copied.map(\.id))) { return true }
      try finish(erasure)
      return false
    }
    do throws(StoreError) {
      let result = try mergeOnce(group, MergePace(self, bytesPerSecond: nil), for: .erasure)
      let listed = Set(catalog.segments.map(\.id))
      erasure.finish(group.map(\.id).filter { !listed.contains($0) }, result)
      // On a full volume, some may have been left.
      guard result.inputs > 0 else { throw notErased(group[0]) }
    } catch {
      // The segment with the damage is left; the next group is without it.
      guard case .damaged = error, group.contains(where: \.facts.isUnmergeable) else { throw error }
    }
    env.epochs.collect()
    return true
  }

  private func nextGroup(of erasure: borrowing Erasure) -> [Segment] {
    let pending = erasure.pending
    return smallGroup(of: mergeable { pending.contains($0.id) }[...])
  }

  /// Makes sure that no power failure brings back files, or what stood in a file before zeros did.
  ///
  /// - Throws: also if a segment could not be merged.
  private func finish(_ erasure: borrowing Erasure) throws(StoreError) {
    do throws(PlatformError) {
      try env.platform.fileSystem.syncDirectory(env.path)
      for segment in catalog.segments where segment.kind == .log { try segment.sync() }
    } catch {
      commits.noteFailure(error)
      throw StoreError(error)
    }
    let left = erasure.left
    if let segment = catalog.segments.first(where: { left.contains($0.id) }) { throw notErased(segment) }
  }

  private func notErased(_ segment: Segment) -> StoreError {
    guard segment.facts.isUnmergeable else {
      return .failed(operation: "seal, so as to erase from,", path: segment.path, errno: PlatformError.tryAgain)
    }
    return .damaged(segment.location(), reason: "a record cannot be read, so what is dead in the segment is not erased")
  }

  /// Whether a segment has anything but live records.
  private func holdsDead(_ segment: Segment) -> Bool {
    let footer = segment.facts.footer
    if footer.length > 0 ? footer.minExpiry <= env.checkedNow : holdsExpired(segment) { return true }
    let live = catalog.granules.live(segment)
    guard live.bytes < segment.recordBytes else { return false }
    // Between packed records are gaps, too.
    guard segment.layout.isPacked else { return true }
    var damage: [StoreEvent] = []
    var walk = SegmentWalk(segment, env.seed, damage: &damage)
    var count = 0
    while let entry = try? walk.next() {
      if entry.kind != .put { return true }
      count += 1
    }
    return count != live.records
  }

  /// Whether the tail has anything but live records.
  private var tailHoldsDead: Bool {
    let tail = writer.withLock { $0.logTail }
    guard let segment = tail.segment else { return false }
    return catalog.granules.live(segment).bytes < tail.recordBytes(of: segment) || holdsExpired(segment, to: tail.end)
  }

  /// Whether a segment without a footer has a record that has expired: it counts as live. Looks at the records.
  private func holdsExpired(_ segment: Segment, to end: Int? = nil) -> Bool {
    let now = env.checkedNow
    guard keydir.keyspaces.all.contains(where: { $0.expiry.mayHavePassed(at: now) }) else { return false }
    var damage: [StoreEvent] = []
    var walk = SegmentWalk(segment, env.seed, to: end, damage: &damage)
    while let entry = try? walk.next() {
      guard entry.expires, let record = segment.storedRecord(at: Int(entry.offset)) else { continue }
      if record.expiry <= now { return true }
    }
    return false
  }

  /// Whether bytes are left behind the records of a segment, of what was written there before a crash.
  private func hasResidue(_ segment: Segment) -> Bool {
    guard segment.kind == .log, var end = segment.recordsEnd else { return false }
    if case .record(let header) = segment.readRecord(at: end, end: .max), header.kind == .seal {
      end += header.size
    }
    let footer = segment.facts.footer
    if footer.offset > end, isResidue(end..<footer.offset, in: segment) { return true }
    let size = (try? segment.file.status().size) ?? 0
    return isResidue(min(size, max(end, segment.fileLength))..<size, in: segment)
  }

  /// Whether a part of a segment's file has anything but zeros.
  private func isResidue(_ range: Range<Int>, in segment: Segment) -> Bool {
    var position = range.lowerBound
    while position < range.upperBound, let start = segment.file.nextData(from: position), start < range.upperBound {
      let piece = start..<min(range.upperBound, start + 256 << 10)
      guard let bytes = try? segment.bytes(in: piece), bytes.allSatisfy({ $0 == 0 }) else { return true }
      position = piece.upperBound
    }
    return false
  }
}
