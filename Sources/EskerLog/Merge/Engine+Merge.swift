internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

extension Engine {
  var mergePolicy: MergePolicy {
    MergePolicy(spaceAmplification: max(1.1, options.merge.spaceAmplification), segmentSize: usualSegmentSize)
  }

  // MARK: In the background

  /// Asks for a look at a store that was just opened, if there may be something to do.
  func askForMerge() {
    guard options.merge.isAutomatic, !options.readOnly else { return }
    let figures = mergeFigures()
    let policy = mergePolicy
    let isDue =
      !hasRoom(forSegment: usualSegmentSize)
      || !policy.victims(among: figures.candidates, unsealed: figures.unsealed, now: figures.now).isEmpty
    if isDue || figures.candidates.contains(where: { $0.lastExpiry != .max || $0.isUnpacked }) { merger.request() }
  }

  /// Merges once if that is due, and says when to look again.
  func mergeIfDue() -> MergeScheduler.Next {
    defer { events.deliver() }
    guard options.merge.isAutomatic, status.load(ordering: .acquiring) == 0, !isIndexIncomplete.load(ordering: .relaxed)
    else { return .whenAsked }
    if let window = options.merge.window, !window(options.clock.now()) {
      writeDelay.store(0, ordering: .relaxed)
      return .after(1_000_000_000)
    }
    do throws(StoreError) {
      let (next, inputs) = try merging.withLock { () throws(StoreError) in try mergeStep() }
      if !inputs.isEmpty { dispose(of: inputs) }
      return next
    } catch { return afterFailure(error) }
  }

  /// Looks what is due and does it; when to look again, and the segments that are given up. Called with `merging` held: what
  /// was chosen before that may be gone.
  private func mergeStep() throws(StoreError) -> (MergeScheduler.Next, [Segment]) {
    try checkWritable()
    if try evictIfDue() { return (.now, []) }
    let figures = mergeFigures()
    let policy = mergePolicy
    var victims = Set(policy.victims(among: figures.candidates, unsealed: figures.unsealed, now: figures.now))
    slowWritersDown(figures, canMerge: !victims.isEmpty)
    if victims.isEmpty { victims = Set(policy.packing(among: figures.candidates, now: figures.now)) }
    if victims.isEmpty { return (restTail(figures) ? .now : nextLook(figures), []) }
    let inputs = mergeable { victims.contains($0.id) }
    let result = try mergeOnce(inputs, MergePace(self, bytesPerSecond: options.merge.bytesPerSecond))
    // Figures of what has expired are estimates: do not run after them.
    return (result.bytesWritten > result.bytesRead / 20 * 19 ? .after(1_000_000_000) : .now, inputs)
  }

  /// Has the keeper let go of segments that were merged away: to close a removed file takes long, and there is more to merge.
  ///
  /// Not when it is behind, which a long checkpoint can make it: until they are closed, removed files take space.
  private func dispose(of segments: [Segment]) {
    let count = disposed.withLock { list -> Int in
      list += segments
      return list.count
    }
    if keeper.isThreaded, count <= Self.mostDisposed { keeper.request(.dispose) } else { disposePending() }
  }

  /// Segments that may wait for the keeper: those of one merge of a store at its bound, and some.
  private static let mostDisposed = 4

  func disposePending() {
    let segments = disposed.withLock { list -> [Segment] in
      defer { list = [] }
      return list
    }
    // Before the list goes, so that it holds the last references.
    epochs.collect()
    withExtendedLifetime(segments) {}
  }

  private func afterFailure(_ error: StoreError) -> MergeScheduler.Next {
    if case .closed = error { return .whenAsked }
    // Nobody waits for what does not come.
    writeDelay.store(0, ordering: .relaxed)
    emit(.backgroundFailure(operation: "merge", error))
    return .after(1_000_000_000)
  }

  /// What the policy looks at.
  struct MergeFigures {
    var candidates: [MergeCandidate] = []
    var unsealed = (bytes: 0, live: 0)
    var now: Int64 = 0
    /// Bytes of records in the tail, and of live ones.
    var tail = (bytes: 0, live: 0)
  }

  func mergeFigures() -> MergeFigures {
    var figures = MergeFigures()
    figures.now = checkedNow
    let published = publishedSequence
    let durable = durableSequence
    let (tail, offset) = writer.withLock { state in (state.tail, state.offset) }
    let list = segments.withLock { $0 }
    let listed = Set(list.map(\.id))
    for segment in list {
      let live = granules.live(segment).bytes
      if segment === tail {
        figures.tail = (max(0, offset - SegmentHeader.length), live)
        figures.unsealed.bytes += figures.tail.bytes
        figures.unsealed.live += live
      } else if isMergeable(segment, durable) {
        let hiding = segment.hidingBytes(among: listed)
        var candidate = candidate(segment, live: live, hiding: hiding, published, figures.now)
        candidate.isUnpacked = isUnpacked(segment) && hiding == 0
        figures.candidates.append(candidate)
      } else {
        figures.unsealed.bytes += max(0, segment.recordsEnd.load(ordering: .relaxed) - SegmentHeader.length)
        figures.unsealed.live += live
      }
    }
    return figures
  }

  /// Whether a merge would pack a segment.
  private func isUnpacked(_ segment: Segment) -> Bool { options.compression != .none && !segment.layout.isPacked }

  /// The listed segments that can be merged and that a condition picks. Called with `merging` held, as nothing but a merge
  /// takes such a segment off the list.
  func mergeable(where isChosen: (Segment) -> Bool) -> [Segment] {
    let durable = durableSequence
    return segments.withLock { $0 }.filter { isMergeable($0, durable) && isChosen($0) }
  }

  /// Whether a segment is whole, durable, and has no record that cannot be read.
  func isMergeable(_ segment: Segment, _ durable: UInt64) -> Bool {
    segment.isSettled.load(ordering: .acquiring) && !segment.isUnmergeable.load(ordering: .relaxed)
      && segment.firstSequence.load(ordering: .relaxed) != 0
      && segment.lastSequence.load(ordering: .relaxed) <= durable
  }

  /// - Parameters:
  ///   - live: Bytes of records that the index leads to, expired ones among them.
  ///   - hiding: Bytes that no merge can free before others are gone, whatever expires.
  private func candidate(
    _ segment: Segment,
    live: Int,
    hiding: Int,
    _ published: UInt64,
    _ now: Int64
  ) -> MergeCandidate {
    let footer = segment.footer.withLock { $0 }
    let bytes = segment.recordsEnd.load(ordering: .relaxed) - SegmentHeader.length
    let last = segment.lastSequence.load(ordering: .relaxed)
    var candidate = MergeCandidate(
      id: segment.id,
      bytes: bytes,
      liveBytes: max(0, live) + hiding,
      age: published > last ? published - last : 0,
      created: segment.created
    )
    guard footer.offset > 0, footer.minExpiry <= footer.maxExpiry else { return candidate }
    if footer.neverExpiring == 0 { candidate.lastExpiry = footer.maxExpiry }
    guard footer.minExpiry <= now else { return candidate }
    if candidate.lastExpiry <= now {
      candidate.liveBytes = hiding
    } else if footer.neverExpiring == 0 {
      // As if they expired evenly between the first and the last.
      let passed =
        Double(now.subtractingClamped(footer.minExpiry))
        / Double(max(1, footer.maxExpiry.subtractingClamped(footer.minExpiry)))
      candidate.liveBytes = hiding + max(1, Int(Double(live) * (1 - min(1, passed))))
    }
    return candidate
  }

  /// Ends a tail that is mostly dead when nothing else can be merged and nobody writes, so that what was deleted gives its
  /// space back. True when there is something to merge now. Called with `merging` held, as whatever ends a tail to merge it.
  private func restTail(_ figures: MergeFigures) -> Bool {
    let policy = mergePolicy
    let bytes = figures.unsealed.bytes + figures.candidates.reduce(0) { $0 + $1.bytes }
    let live = figures.unsealed.live + figures.candidates.reduce(0) { $0 + $1.liveBytes }
    guard bytes > policy.limit(live: live), figures.tail.bytes > figures.tail.live * 2 else {
      restingOffset = 0
      return false
    }
    // Quiet since the last look?
    guard restingOffset == figures.tail.bytes, merger.isThreaded else {
      restingOffset = figures.tail.bytes
      return false
    }
    restingOffset = 0
    do throws(StoreError) {
      try dropSpares()
      try endTail()
    } catch { return false }
    return true
  }

  private func nextLook(_ figures: MergeFigures) -> MergeScheduler.Next {
    if restingOffset != 0 { return .after(200_000_000) }
    let next = figures.candidates.reduce(Int64.max) {
      min($0, $1.lastExpiry, $1.isUnpacked && !$1.isDying(at: figures.now) ? $1.packingTime : .max)
    }
    guard next != .max else { return .whenAsked }
    let milliseconds = min(60_000, max(50, next.subtractingClamped(figures.now)))
    return .after(UInt64(milliseconds) * 1_000_000)
  }

  // MARK: On demand

  func merge(_ ids: Set<UInt64>?, progress: ((Double) -> Bool)?) throws(StoreError) -> MergeReport {
    defer {
      // Removed files take space until they are closed.
      closeRemoved()
      events.deliver()
    }
    try checkWritable()
    return try merging.withLock { () throws(StoreError) -> MergeReport in
      // It may have been closed since, while this waited for the lock.
      try checkWritable()
      if ids == nil {
        do throws(StoreError) { try endTail() } catch {
          // On a full volume the rest can be merged all the same.
          guard error.bytesLacking != nil else { throw error }
        }
      }
      let chosen = chosenSegments(ids)
      var report = MergeReport()
      let total = max(1, chosen.reduce(0) { $0 + $1.fileLength })
      var done = 0
      var rest = chosen[...]
      while let first = rest.first {
        var group = [first]
        var live = granules.live(first).bytes
        rest.removeFirst()
        while let next = rest.first, live + granules.live(next).bytes <= usualSegmentSize, group.count < 16 {
          live += granules.live(next).bytes
          group.append(rest.removeFirst())
        }
        if let progress, !progress(Double(done) / Double(total)) { throw .cancelled }
        report.add(try mergeOnce(group, MergePace(self, bytesPerSecond: options.merge.bytesPerSecond)))
        epochs.collect()
        done += group.reduce(0) { $0 + $1.fileLength }
      }
      _ = progress?(1)
      return report
    }
  }

  /// Segments a merge on demand takes: those that were named, or all that hold anything dead.
  private func chosenSegments(_ ids: Set<UInt64>?) -> [Segment] {
    let now = checkedNow
    return mergeable { segment in
      if let ids { return ids.contains(segment.id) }
      let bytes = segment.recordsEnd.load(ordering: .relaxed) - SegmentHeader.length
      return isUnpacked(segment) || granules.live(segment).bytes < bytes
        || segment.footer.withLock { $0.minExpiry } <= now
    }
  }

  /// Ends the tail if it holds anything, and sees to it that it can be merged.
  func endTail() throws(StoreError) {
    try writer.withLock { (state) throws(StoreError) in
      try checkWritable()
      guard state.tail != nil, state.offset > SegmentHeader.length else { return }
      if !state.isMarkedOpen { try makeRoom(for: 0, &state) }
      if hasRoom(forSegment: usualSegmentSize) { try rotate(for: 0, &state) } else { sealTail(&state) }
    }
    sealFinished()
  }

  // MARK: Both

  /// One merge. Called with `merging` held; what cannot be merged, or not any more, is passed over.
  func mergeOnce(
    _ chosen: [Segment],
    _ pace: borrowing MergePace,
    evicting: Bool = false
  ) throws(StoreError) -> MergeResult {
    let mergeable = Set(mergeable { _ in true }.map(ObjectIdentifier.init))
    let inputs = chosen.filter { mergeable.contains(ObjectIdentifier($0)) }
    guard !inputs.isEmpty else { return MergeResult() }
    guard !index.isDamaged else { throw indexDamage() }
    try markOpen()
    let start = platform.clock.monotonicNanoseconds()
    emit(.mergeBegan(segments: inputs.map(\.id)))
    let result = try mergeWithReserve(inputs, pace, evicting)
    merges.withLock { $0.add(result) }
    mergeCount.add(1, ordering: .relaxed)
    var report = MergeReport()
    report.add(result)
    let duration = Duration.nanoseconds(Int64(clamping: platform.clock.monotonicNanoseconds() &- start))
    emit(.mergeEnded(report, duration: duration))
    if result.recordsEvicted > 0 { emit(.evicted(records: result.recordsEvicted, bytes: result.bytesEvicted)) }
    return result
  }

  /// Merges; on a full volume, as much as what was set aside for it has room for.
  private func mergeWithReserve(
    _ inputs: [Segment],
    _ pace: borrowing MergePace,
    _ evicts: Bool
  ) throws(StoreError) -> MergeResult {
    var run = MergeRun(self, merging: inputs, evicting: evicts)
    do throws(StoreError) {
      let result = try run.run(pace)
      if result.bytesRead > 0 { fillReserve() }
      return result
    } catch {
      guard case .noSpace = error, reserve.release() else { throw error }
    }
    // The one that needs the least room, so that there is more for the next.
    guard let least = inputs.min(by: { granules.live($0).bytes < granules.live($1).bytes }) else {
      return MergeResult()
    }
    var rest = MergeRun(self, merging: [least], evicting: evicts)
    let result = try rest.run(pace)
    fillReserve()
    return result
  }

  /// Says in the manifest that the store is being changed.
  private func markOpen() throws(StoreError) {
    try writer.withLock { (state) throws(StoreError) in
      try checkWritable()
      guard !state.isMarkedOpen else { return }
      // A tail goes on where it ended; without one, none is needed.
      if state.tail == nil { try markOpen(&state) } else { try makeRoom(for: 0, &state) }
    }
  }

  func pauseMerging() {
    merger.pause()
    writeDelay.store(0, ordering: .relaxed)
  }

  // MARK: Backpressure

  /// Makes writers wait a little after each so many bytes when merging is behind, in proportion to how far.
  private func slowWritersDown(_ figures: MergeFigures, canMerge: Bool) {
    let bytes = figures.unsealed.bytes + figures.candidates.reduce(0) { $0 + $1.bytes }
    let live = figures.unsealed.live + figures.candidates.reduce(0) { $0 + $1.liveBytes }
    // Well before the limit: what is not sealed cannot be merged when it is reached.
    isCrowded.store(bytes > live + live / 8 + mergePolicy.slack, ordering: .relaxed)
    let debt = canMerge ? mergePolicy.debt(bytes: bytes, live: live) : 0
    writeDelay.store(UInt64(min(10, debt) * Double(Self.delayPerSegmentOfDebt)), ordering: .relaxed)
  }

  /// Nanoseconds that a mebibyte of writes waits for each segment that merging is behind.
  private static let delayPerSegmentOfDebt = 4_000_000

  /// Waits as long as the last step of writes has to, and seals what is full where that is too much. No lock is held.
  @inline(never)
  func payDelay() {
    let delay = owedDelay.exchange(0, ordering: .relaxed)
    if isCrowdedUnsealed { sealFinished() }
    events.deliver()
    if delay != 0, merger.isThreaded { merger.nap(nanoseconds: delay) }
  }

  /// As `payDelay`, suspending the task.
  @inline(never)
  func payDelayAsync() async {
    let delay = owedDelay.exchange(0, ordering: .relaxed)
    if isCrowdedUnsealed { sealFinished() }
    events.deliver()
    // A cancelled task goes on: its write is done.
    if delay != 0, merger.isThreaded { try? await Task.sleep(nanoseconds: delay) }
  }
}
