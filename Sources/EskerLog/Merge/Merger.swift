internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

/// Merges segments (other stores call it compaction): replaces them by others that contain only what is still needed; and
/// evicts.
///
/// Invariants: inputs are listed, complete and durable; after a failure the index points where it did before. Calls
/// feeds, the maintainer, the writer, the keydir, the catalog, commits and the environment. Thread safety: any thread.
///
/// Safety: threads may share it, since the two variables are guarded by `merging`.
final class Merger: @unchecked Sendable {
  let env: Environment
  let commits: CommitQueue
  let catalog: Catalog
  let keydir: Keydir
  let writer: Writer
  let maintainer: Maintainer
  let feeds: Feeds
  /// Serialises merges.
  private let merging = Lock(.merging)
  /// The number of merges since the store was opened, and their total.
  private let total = Guarded((count: 0, report: Report.Merge()), .leaf)
  // Guarded by `merging`.
  /// Bytes that earlier evictions could have spared but did not.
  var sparingLeft = 0
  /// How many segments the next edit lists as those that make room.
  var listing = Merger.listed.lowerBound
  /// Bytes in the tail when it was last found mostly dead; 0 if it was not.
  private var restingOffset = 0
  /// The last write when nothing was due.
  private var lastLook: UInt64 = 0
  /// The erasure that is under way in the background.
  var erasure: Erasure?
  /// The store time from which on the next one is due.
  var nextErasure = Int64.min

  init(_ maintainer: Maintainer, _ feeds: Feeds) {
    env = maintainer.env
    commits = maintainer.commits
    catalog = maintainer.catalog
    keydir = maintainer.keydir
    writer = maintainer.writer
    self.maintainer = maintainer
    self.feeds = feeds
  }

  /// Starts merging in the background.
  func begin() {
    env.workers.merger.begin { [self] _ in mergeIfDue() }
    askForMerge()
  }

  /// Runs a body while no merge runs.
  func whileResting<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    try merging.withLock(body)
  }

  /// The number of merges since the store was opened, and their total.
  var figures: (count: Int, report: Report.Merge) { total.withLock { $0 } }

  /// Ends the tail, and seals it so that it can be merged.
  func endTail() throws(StoreError) {
    try writer.endTail()
    maintainer.sealFull()
  }

  var mergePolicy: MergePolicy {
    MergePolicy(
      spaceAmplification: max(1.1, env.options.merge.spaceAmplification),
      segmentSize: catalog.usualSegmentSize
    )
  }

  // MARK: In the background

  /// Requests a merge of a store that was just opened, if there may be anything to do.
  func askForMerge() {
    if env.isFollowing { return }
    guard env.options.merge.isAutomatic, env.options.erasure == .whenMerged else {
      if env.options.erasure != .whenMerged { env.workers.merger.request(.merge) }
      return
    }
    let figures = mergeFigures()
    let policy = mergePolicy
    let isDue =
      !catalog.hasRoom(forSegment: catalog.usualSegmentSize)
      || !policy.victims(among: figures.candidates, unsealed: figures.unsealed, now: figures.now).isEmpty
    if isDue || figures.candidates.contains(where: { $0.lastExpiry != .max || $0.isUnpacked }) {
      env.workers.merger.request(.merge)
    }
  }

  /// Erases or merges once if due; returns when to check again.
  func mergeIfDue() -> BackgroundWorker.Next {
    defer { env.deliverEvents() }
    guard env.isWritable, !keydir.isIncomplete else { return .whenAsked }
    if env.options.erasure == .whenMerged { return mergeForSpace() }
    var next = BackgroundWorker.Next.whenAsked
    do throws(StoreError) {
      let isErasing = try merging.withLock { () throws(StoreError) in
        try env.checkWritable()
        return try eraseIfDue()
      }
      if isErasing { next = .now }
    } catch { next = afterFailure(error, of: "erase") }
    // Also amid an erasure, which may take long.
    return untilErasure(or: next.sooner(mergeForSpace()))
  }

  /// Merges once if the log takes too much space; returns when to check again.
  private func mergeForSpace() -> BackgroundWorker.Next {
    guard env.options.merge.isAutomatic else { return .whenAsked }
    if let window = env.options.merge.window, !window(env.options.clock.now()) {
      writer.slowDown(by: 0)
      return .after(1_000_000_000)
    }
    do throws(StoreError) {
      let (next, inputs) = try merging.withLock { () throws(StoreError) in try mergeStep() }
      if !inputs.isEmpty { dispose(of: inputs) }
      return next
    } catch { return afterFailure(error, of: "merge") }
  }

  /// Does the next thing that is due; returns when to check again, and the segments to release. Called with `merging`
  /// held: segments chosen before may be gone.
  private func mergeStep() throws(StoreError) -> (BackgroundWorker.Next, [Segment]) {
    try env.checkWritable()
    if try evictIfDue() { return (.now, []) }
    let figures = mergeFigures()
    let policy = mergePolicy
    var victims = Set(policy.victims(among: figures.candidates, unsealed: figures.unsealed, now: figures.now))
    slowWritersDown(figures, canMerge: !victims.isEmpty)
    if victims.isEmpty { victims = Set(policy.packing(among: figures.candidates, now: figures.now)) }
    if victims.isEmpty { return (restTail(figures) ? .now : nextLook(figures), []) }
    let inputs = mergeable { victims.contains($0.id) }
    let result = try mergeOnce(inputs, MergePace(self, bytesPerSecond: env.options.merge.bytesPerSecond))
    // The figures of expired records are estimates: avoids merging again and again for little gain.
    return (result.bytesWritten > result.bytesRead / 20 * 19 ? .after(1_000_000_000) : .now, inputs)
  }

  /// Lets the maintainer release segments that were merged away: closing a removed file takes long, and there is more to
  /// merge.
  ///
  /// Releases them here if the maintainer is behind, as after a long checkpoint: removed files take space until they are
  /// closed.
  private func dispose(of segments: [Segment]) {
    let count = catalog.dispose(of: segments)
    if env.isThreaded, count <= Self.mostDisposed {
      env.workers.maintainer.request(.dispose)
    } else {
      catalog.disposePending()
    }
  }

  /// The most segments that may wait for the maintainer: those of one merge of a store at its limit, and some more.
  private static let mostDisposed = 4

  private func afterFailure(_ error: StoreError, of operation: String) -> BackgroundWorker.Next {
    switch error {
    case .closed, .suspended: return .whenAsked
    default: break
    }
    // Writers do not wait for merges that fail.
    writer.slowDown(by: 0)
    env.emit(.backgroundFailure(operation: operation, error))
    return .after(1_000_000_000)
  }

  /// The input of the policy.
  struct MergeFigures {
    var candidates: [MergeCandidate] = []
    var unsealed = (bytes: 0, live: 0)
    var now: Int64 = 0
    /// Bytes of records in the tail, and of the live ones among them.
    var tail = (bytes: 0, live: 0)
  }

  func mergeFigures() -> MergeFigures {
    var figures = MergeFigures()
    figures.now = env.checkedNow
    let published = commits.publishedSequence
    let durable = commits.durableSequence
    let tail = writer.withLock { $0.logTail }
    let list = catalog.segments
    let listed = Set(list.map(\.id))
    let evictions = Set(catalog.evictions.map(\.id))
    for segment in list {
      let live = catalog.granules.live(segment).bytes
      if segment === tail.segment {
        figures.tail = (tail.recordBytes(of: segment), live)
        figures.unsealed.bytes += figures.tail.bytes
        figures.unsealed.live += live
      } else if isMergeable(segment, durable), !evictions.contains(segment.id) {
        let hiding = segment.hidingBytes(among: listed)
        var candidate = candidate(segment, live: live, hiding: hiding, published, figures.now)
        candidate.isUnpacked = isUnpacked(segment) && hiding == 0
        figures.candidates.append(candidate)
      } else {
        figures.unsealed.bytes += segment.recordBytes
        figures.unsealed.live += live
      }
    }
    return figures
  }

  /// Whether a merge would pack a segment.
  private func isUnpacked(_ segment: Segment) -> Bool { env.settings.compression != .off && !segment.layout.isPacked }

  /// The listed segments that can be merged and satisfy a condition: not those that make room next. Called with `merging` held, since
  /// only a merge takes such a segment off the list.
  func mergeable(where isChosen: (Segment) -> Bool) -> [Segment] {
    let durable = commits.durableSequence
    let evictions = Set(catalog.evictions.map(ObjectIdentifier.init))
    return catalog.segments.filter {
      isMergeable($0, durable) && !evictions.contains(ObjectIdentifier($0)) && isChosen($0)
    }
  }

  /// Whether a segment is complete and durable, and no record in it was found unreadable.
  func isMergeable(_ segment: Segment, _ durable: UInt64) -> Bool {
    let facts = segment.facts
    return facts.isSettled && !facts.isUnmergeable && facts.firstSequence != 0 && facts.lastSequence <= durable
  }

  /// - Parameters:
  ///   - live: Bytes of records that the index points to, including expired ones.
  ///   - hiding: Bytes of tombstones that no merge can reclaim before other segments are gone.
  private func candidate(
    _ segment: Segment,
    live: Int,
    hiding: Int,
    _ published: UInt64,
    _ now: Int64
  ) -> MergeCandidate {
    let footer = segment.facts.footer
    let bytes = segment.recordBytes
    let last = segment.lastSequence
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
      // Assumes that records expire evenly between the first and the last.
      let passed =
        Double(now.subtractingClamped(footer.minExpiry))
        / Double(max(1, footer.maxExpiry.subtractingClamped(footer.minExpiry)))
      candidate.liveBytes = hiding + max(1, Int(Double(live) * (1 - min(1, passed))))
    }
    return candidate
  }

  /// Ends a mostly dead tail when nothing else can be merged and nothing is being written, so that the space of what was
  /// deleted can be reclaimed. True if there is something to merge now. Called with `merging` held, like everything that
  /// ends a tail to merge it.
  private func restTail(_ figures: MergeFigures) -> Bool {
    let policy = mergePolicy
    let bytes = figures.unsealed.bytes + figures.candidates.reduce(0) { $0 + $1.bytes }
    let live = figures.unsealed.live + figures.candidates.reduce(0) { $0 + $1.liveBytes }
    guard bytes > policy.limit(live: live), figures.tail.bytes > figures.tail.live * 2 else {
      restingOffset = 0
      return false
    }
    // Only if nothing was written since the last check.
    guard restingOffset == figures.tail.bytes, env.isThreaded else {
      restingOffset = figures.tail.bytes
      return false
    }
    restingOffset = 0
    do throws(StoreError) {
      try writer.dropSpares()
      try endTail()
    } catch { return false }
    return true
  }

  /// When to look again, if nothing is due: soon, as long as the store is written to, since what dies may be far more than what is logged.
  private func nextLook(_ figures: MergeFigures) -> BackgroundWorker.Next {
    if restingOffset != 0 || wasWritten { return .after(Self.lookInterval) }
    let next = figures.candidates.reduce(Int64.max) {
      min($0, $1.lastExpiry, $1.isUnpacked && !$1.isDying(at: figures.now) ? $1.packingTime : .max)
    }
    guard next != .max else { return .whenAsked }
    let milliseconds = min(60_000, max(50, next.subtractingClamped(figures.now)))
    return .after(UInt64(milliseconds) * 1_000_000)
  }

  private static let lookInterval: UInt64 = 200_000_000

  /// Whether there was a write since nothing was due. If there was none, the next write asks for a look.
  private var wasWritten: Bool {
    guard env.isThreaded else { return false }
    if commits.publishedSequence == lastLook { writer.owe() }
    // Again: a write may have come in between, without seeing that.
    let last = commits.publishedSequence
    defer { lastLook = last }
    return last != lastLook
  }

  // MARK: On demand

  func merge(_ ids: Set<UInt64>?, progress: ((Double) -> Bool)?) throws(StoreError) -> Report.Merge {
    defer {
      // Removed files take space until they are closed.
      catalog.closeRemoved()
      env.deliverEvents()
    }
    try env.checkWritable()
    return try merging.withLock { () throws(StoreError) -> Report.Merge in
      // The store may have been closed while this waited for the lock.
      try env.checkWritable()
      if ids == nil {
        do throws(StoreError) { try endTail() } catch {
          // On a full volume the rest can still be merged.
          guard error.bytesLacking != nil else { throw error }
        }
      }
      let chosen = chosenSegments(ids)
      var report = Report.Merge()
      let total = max(1, chosen.reduce(0) { $0 + $1.fileLength })
      var done = 0
      var rest = chosen[...]
      while !rest.isEmpty {
        let group = smallGroup(of: rest)
        rest = rest.dropFirst(group.count)
        if let progress, !progress(Double(done) / Double(total)) { throw .cancelled }
        report.add(try mergeOnce(group, MergePace(self, bytesPerSecond: env.options.merge.bytesPerSecond)))
        env.epochs.collect()
        done += group.reduce(0) { $0 + $1.fileLength }
      }
      _ = progress?(1)
      return report
    }
  }

  /// The first of some segments, as many as fill one; none if there are none.
  func smallGroup(of segments: ArraySlice<Segment>) -> [Segment] {
    var count = 0
    var live = 0
    for segment in segments.prefix(16) {
      live += catalog.granules.live(segment).bytes
      if count > 0, live > catalog.usualSegmentSize { break }
      count += 1
    }
    return Array(segments.prefix(count))
  }

  /// The segments of a merge on demand: those named, or all with any dead records.
  private func chosenSegments(_ ids: Set<UInt64>?) -> [Segment] {
    let now = env.checkedNow
    return mergeable { segment in
      if let ids { return ids.contains(segment.id) }
      let bytes = segment.recordBytes
      return isUnpacked(segment) || catalog.granules.live(segment).bytes < bytes
        || segment.facts.footer.minExpiry <= now
    }
  }

  // MARK: Both

  /// Performs one merge. Called with `merging` held; skips segments that cannot be merged, or no longer.
  func mergeOnce(
    _ chosen: [Segment],
    _ pace: borrowing MergePace,
    for purpose: MergePurpose = .space
  ) throws(StoreError) -> MergeResult {
    let mergeable = Set(mergeable { _ in true }.map(ObjectIdentifier.init))
    let inputs = chosen.filter { mergeable.contains(ObjectIdentifier($0)) }
    guard !inputs.isEmpty else { return MergeResult() }
    guard !keydir.isDamaged else { throw keydir.indexDamage() }
    // What the index lacks would be taken for dead.
    try keydir.checkWhole()
    try writer.open()
    let start = env.platform.clock.monotonicNanoseconds()
    env.emit(.mergeBegan(segments: inputs.map(\.id)))
    let result = try mergeWithReserve(inputs, pace, purpose)
    count(result)
    var report = Report.Merge()
    report.add(result)
    let duration = Duration.nanoseconds(Int64(clamping: env.platform.clock.monotonicNanoseconds() &- start))
    env.emit(.mergeEnded(report, duration: duration))
    if result.recordsEvicted > 0 { env.emit(.evicted(records: result.recordsEvicted, bytes: result.bytesEvicted)) }
    return result
  }

  /// Merges; on a full volume, as much as the reserve has room for.
  private func mergeWithReserve(
    _ inputs: [Segment],
    _ pace: borrowing MergePace,
    _ purpose: MergePurpose
  ) throws(StoreError) -> MergeResult {
    var run = MergeRun(self, merging: inputs, for: purpose)
    do throws(StoreError) {
      let result = try run.run(pace)
      if result.bytesRead > 0 { catalog.fillReserve() }
      return result
    } catch {
      guard case .noSpace = error, catalog.reserve.release() else { throw error }
    }
    // The segment that needs the least room, so that more is left for the next.
    guard let least = inputs.min(by: { catalog.granules.live($0).bytes < catalog.granules.live($1).bytes }) else {
      return MergeResult()
    }
    var rest = MergeRun(self, merging: [least], for: purpose)
    let result = try rest.run(pace)
    catalog.fillReserve()
    return result
  }

  /// Adds to the total; what made room without a merge, too.
  func count(_ result: MergeResult, isMerge: Bool = true) {
    total.withLock { total in
      if isMerge { total.count += 1 }
      total.report.add(result)
    }
  }

  func pauseMerging() {
    env.workers.merger.suspend()
    writer.slowDown(by: 0)
  }

  // MARK: Backpressure

  /// Delays writers if merging is behind, in proportion to how far.
  private func slowWritersDown(_ figures: MergeFigures, canMerge: Bool) {
    let bytes = figures.unsealed.bytes + figures.candidates.reduce(0) { $0 + $1.bytes }
    let live = figures.unsealed.live + figures.candidates.reduce(0) { $0 + $1.liveBytes }
    // Well before the limit is reached: segments that are not sealed by then could not be merged.
    maintainer.setUrgent(env.settings.capacity == nil && bytes > live + live / 8 + mergePolicy.slack)
    let debt = canMerge ? mergePolicy.debt(bytes: bytes, live: live) : 0
    writer.slowDown(by: UInt64(min(10, debt) * Double(Self.delayPerSegmentOfDebt)))
  }

  /// The delay in nanoseconds per mebibyte of writes, for each segment that merging is behind.
  private static let delayPerSegmentOfDebt = 4_000_000
}
