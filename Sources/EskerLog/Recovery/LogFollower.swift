internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

/// Where a read-only store stands in a log that a writer in another process goes on writing.
///
/// The index of a read-only store holds whole batches, up to `whole` and nothing beyond; that is the number the store shows.
/// Records are read one after the other as long as they can be. What cannot be read so, because it was merged away unread or
/// a recovery skipped numbers, is loaded from the segments that the newest manifest lists. In both cases the index is a state
/// that the writer had before anybody may take a snapshot: all of this happens with `opening` held.
struct LogFollower {
  /// The segment that is being read; nil until one is found that holds the next record.
  var segment: Segment?
  var offset = SegmentHeader.length
  /// The number of the next record.
  var expected: UInt64
  /// The last write of the last whole batch that was read.
  var whole: UInt64
  /// Records of a batch whose end has not been seen.
  var batch: [LogRecord] = []
  /// The manifest that is in effect.
  var generation: UInt64
  /// When the manifest was last looked at.
  var lastPoll: UInt64 = 0
  /// True while what stands at the place is nothing to take: a seal, or a record that is being written.
  var isHeldUp = false
  /// The next number when loading what the manifest lists found nothing.
  var vainExpected: UInt64?
  /// Looks in a row that failed.
  var failures = 0

  /// How long a read-only store may go on without looking at the manifest, in nanoseconds.
  static let pollInterval: UInt64 = 1_000_000

  /// Looks at files that a writer may just be changing, a millisecond apart.
  static let mostTries = 100

  /// Failures in a row after which the store says that it does not follow the writer any more.
  static let toleratedFailures = 9

  /// Where the next record that is not in the index stands: that of an unfinished batch is read again.
  var restart: (offset: Int, expected: UInt64) {
    guard let first = batch.first, let segment else { return (offset, expected) }
    return (Int(first.address &- segment.startUnits) << 3, first.sequence)
  }

  /// Whether the segment is known to hold nothing more.
  var isBehindSegment: Bool {
    guard let segment else { return true }
    return segment.isSettled.load(ordering: .acquiring) && offset >= segment.recordsEnd.load(ordering: .acquiring)
  }

  /// Leaves a segment that gets no more records, and goes on at the start of another.
  mutating func goOn(in next: Segment, _ granules: GranuleTable) {
    if let segment { segment.settleRead(to: restart.offset, last: restart.expected &- 1, granules) }
    // A batch that has no end in its segment never happened: its writer was killed.
    batch.removeAll(keepingCapacity: true)
    segment = next
    offset = SegmentHeader.length
    isHeldUp = false
    // It may have been listed before it was written to.
    if let first = next.firstNumber { next.firstSequence.store(first, ordering: .relaxed) }
  }
}

extension Engine {
  /// Takes in new records if there may be some. Cheap when there are none.
  func followIfBehind() {
    guard opening.tryLock() else {
      // Somebody follows right now. While it loads, the index is no state that the writer had.
      if status.load(ordering: .acquiring) & Status.loading != 0 { opening.withLock {} }
      return
    }
    var events: [StoreEvent] = []
    if let follower {
      let hasMore = follower.segment.map { !follower.isHeldUp && $0.nextWord(at: follower.offset) != 0 } ?? false
      let now = platform.clock.monotonicNanoseconds()
      let isDue = now &- follower.lastPoll >= LogFollower.pollInterval
      if isDue { self.follower?.lastPoll = now }
      if hasMore || isDue {
        do throws(StoreError) { try follow(lookingAtManifest: isDue, &events) } catch {
          noteFailureToFollow(error, &events)
        }
      }
    }
    opening.unlock()
    for event in events { emit(event) }
    self.events.deliver()
  }

  private func noteFailureToFollow(_ error: StoreError, _ events: inout [StoreEvent]) {
    guard let failures = follower?.failures else { return }
    follower?.failures = failures + 1
    if failures + 1 == LogFollower.toleratedFailures {
      events.append(.backgroundFailure(operation: "follow the writer", error))
    }
  }

  /// Takes in all that was written before the call.
  func refresh() throws(StoreError) {
    let flags = status.load(ordering: .acquiring)
    if flags & Status.closed != 0 { throw .closed }
    guard flags & Status.readOnly != 0 else { return }
    var events: [StoreEvent] = []
    opening.lock()
    var failure: StoreError?
    do throws(StoreError) { try follow(lookingAtManifest: true, &events) } catch { failure = error }
    opening.unlock()
    for event in events { emit(event) }
    self.events.deliver()
    if let failure { throw failure }
  }

  /// Reads the log on, and takes in what the manifest says of it. Called with `opening` held.
  ///
  /// A manifest takes effect only when the index holds all that was durable when it was written: until then what the index
  /// leads to may be in a segment that is not listed any more, and be alive at the number that is shown.
  ///
  /// - Throws: what is shown is then as it was, or further in the log.
  private func follow(lookingAtManifest: Bool, _ events: inout [StoreEvent]) throws(StoreError) {
    guard var follower else { return }
    defer { self.follower = follower }
    var isKnown = readOn(&follower)
    guard lookingAtManifest || follower.isHeldUp || !isKnown else { return }
    var tries = 0
    while true {
      let manifest = try manifestOfWriter(atLeast: follower.generation)
      if manifest.generation == follower.generation {
        // It would be listed by now.
        if !isKnown { readOn(&follower, acceptingAll: true) }
        if isBehindSkippedNumbers(follower) { loadSkipped(manifest, &follower, &events) }
        break
      }
      guard let opened = try openListed(manifest, &events) else {
        tries += 1
        // The writer goes on meanwhile, and each manifest lists what the one before did not.
        guard tries < LogFollower.mostTries else {
          throw .failed(operation: "follow the writer of", path: path, errno: PlatformError.tryAgain)
        }
        platform.pause()
        continue
      }
      let arriving = opened.filter { $0.kind != .log || (firstNumber(of: $0) ?? .max) <= follower.whole }
      enter(opened, manifest)
      // What was written before the manifest, and not read yet, comes first.
      readOn(&follower)
      if follower.whole >= manifest.durableSequence {
        for segment in arriving { follow(segment, through: follower.whole, &events) }
        adopt(manifest, &follower, &events)
      } else {
        load(manifest, opened, &follower, &events)
      }
      isKnown = readOn(&follower)
      if isKnown, !isBehindSkippedNumbers(follower) { break }
    }
    follower.failures = 0
  }

  /// Whether the log goes on with a higher number than the next: a recovery skipped some, unless a newer manifest knows
  /// better.
  private func isBehindSkippedNumbers(_ follower: LogFollower) -> Bool {
    follower.isBehindSegment && follower.vainExpected != follower.expected && hasRecordsBeyond(follower)
  }

  private func loadSkipped(_ manifest: Manifest, _ follower: inout LogFollower, _ events: inout [StoreEvent]) {
    let expected = follower.expected
    load(manifest, [], &follower, &events)
    if follower.expected == expected { follower.vainExpected = expected }
  }

  /// The newest manifest.
  ///
  /// - Throws: ``StoreError/otherStore(path:)`` when it is another store's, ``StoreError/damaged(_:reason:)`` when it is older
  ///   than one that was there, or none is whole.
  private func manifestOfWriter(atLeast generation: UInt64) throws(StoreError) -> Manifest {
    for _ in 0..<LogFollower.mostTries {
      let reading = try manifests.withLock { (state) throws(StoreError) in try state.files.read() }
      // Both copies are looked at one after the other, and each may have been written right then.
      let isTorn = !reading.damage.isEmpty
      if let manifest = reading.newest {
        guard manifest.storeID == storeID else { throw .otherStore(path: path) }
        if manifest.generation >= generation { return manifest }
        guard isTorn else {
          throw .damaged(
            DamageLocation(path: path),
            reason: "the store was replaced by an older copy of itself; reopen it"
          )
        }
      }
      guard reading.found > 0 else { throw .notAStore(path: path) }
      platform.pause()
    }
    let reason = "no intact copy of the manifest is as recent as the last one read; \(StoreError.remedy)"
    throw .damaged(DamageLocation(path: path), reason: reason)
  }
}
