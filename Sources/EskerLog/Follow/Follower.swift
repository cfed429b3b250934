internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

/// Lets a read-only store follow what a writer in another process logs.
///
/// Keeps: the index holds whole batches, and a state that the writer had, before anybody may take a snapshot; a manifest takes
/// effect only when the index holds all that was durable when it was written. Calls feeds, recovery, the writer, the keydir, the
/// catalog, commits and the environment. Thread safety: any thread.
///
/// Safety: threads may share it, since `position` is guarded by `following`.
final class Follower: @unchecked Sendable {
  let env: Environment
  let commits: CommitQueue
  let catalog: Catalog
  let keydir: Keydir
  let writer: Writer
  let feeds: Feeds
  private let following = Lock(.following)
  /// Where it stands; nil in a store that is open for writing. Guarded by `following`.
  private var position: LogPosition?

  init(_ writer: Writer, _ feeds: Feeds) {
    env = writer.env
    commits = writer.commits
    catalog = writer.catalog
    keydir = writer.keydir
    self.writer = writer
    self.feeds = feeds
  }

  /// Begins where an opening has read to.
  func begin(at place: (segment: Segment, offset: Int)?) {
    following.withLock {
      let published = commits.publishedSequence
      var position = LogPosition(expected: published &+ 1, whole: published, generation: catalog.manifest.generation)
      if let place {
        position.segment = place.segment
        position.offset = place.offset
      }
      self.position = position
      publish(position)
    }
  }

  /// Follows no more.
  func end() {
    following.withLock { position = nil }
  }

  /// Runs a body while nothing is taken in.
  func holding<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    try following.withLock(body)
  }

  /// Takes in new records if there may be some. Cheap when there are none.
  func followIfBehind() {
    guard following.tryLock() else {
      // Somebody follows right now. While it loads, the index is no state that the writer had.
      if env.isLoading { following.withLock {} }
      return
    }
    var events: [StoreEvent] = []
    if let position {
      let hasMore = position.segment.map { !position.isHeldUp && $0.nextWord(at: position.offset) != 0 } ?? false
      let now = env.platform.clock.monotonicNanoseconds()
      let isDue = now &- position.lastPoll >= LogPosition.pollInterval
      if isDue { self.position?.lastPoll = now }
      if hasMore || isDue {
        do throws(StoreError) { try follow(lookingAtManifest: isDue, &events) } catch {
          noteFailureToFollow(error, &events)
        }
      }
    }
    following.unlock()
    for event in events { env.emit(event) }
    env.deliverEvents()
  }

  private func noteFailureToFollow(_ error: StoreError, _ events: inout [StoreEvent]) {
    guard let failures = position?.failures else { return }
    position?.failures = failures + 1
    if failures + 1 == LogPosition.toleratedFailures {
      events.append(.backgroundFailure(operation: "follow the writer", error))
    }
  }

  /// Takes in all that was written before the call.
  func refresh() throws(StoreError) {
    try env.checkOpen()
    guard env.options.readOnly else { return }
    var events: [StoreEvent] = []
    following.lock()
    var failure: StoreError?
    do throws(StoreError) { try follow(lookingAtManifest: true, &events) } catch { failure = error }
    following.unlock()
    for event in events { env.emit(event) }
    env.deliverEvents()
    if let failure { throw failure }
  }

  /// Reads the log on, and takes in what the manifest says of it. Called with `following` held.
  ///
  /// A manifest takes effect only when the index holds all that was durable when it was written: until then what the index
  /// leads to may be in a segment that is not listed any more, and be alive at the number that is shown.
  ///
  /// - Throws: what is shown is then as it was, or further in the log.
  private func follow(lookingAtManifest: Bool, _ events: inout [StoreEvent]) throws(StoreError) {
    guard var follower = position else { return }
    defer { position = follower }
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
        guard tries < LogPosition.mostTries else {
          throw .failed(operation: "follow the writer of", path: env.path, errno: PlatformError.tryAgain)
        }
        env.platform.pause()
        continue
      }
      let arriving = opened.filter { $0.kind != .log || (catalog.firstNumber(of: $0) ?? .max) <= follower.whole }
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
  private func isBehindSkippedNumbers(_ follower: LogPosition) -> Bool {
    follower.isBehindSegment && follower.vainExpected != follower.expected && hasRecordsBeyond(follower)
  }

  private func loadSkipped(_ manifest: Manifest, _ follower: inout LogPosition, _ events: inout [StoreEvent]) {
    let expected = follower.expected
    load(manifest, [], &follower, &events)
    if follower.expected == expected { follower.vainExpected = expected }
  }

  /// The newest manifest.
  ///
  /// - Throws: ``StoreError/otherStore(path:)`` when it is another store's, ``StoreError/damaged(_:reason:)`` when it is older
  ///   than one that was there, or none is whole.
  private func manifestOfWriter(atLeast generation: UInt64) throws(StoreError) -> Manifest {
    for _ in 0..<LogPosition.mostTries {
      let reading = try catalog.readCopies()
      // Both copies are looked at one after the other, and each may have been written right then.
      let isTorn = !reading.damage.isEmpty
      if let manifest = reading.newest {
        guard manifest.storeID == env.storeID else { throw .otherStore(path: env.path) }
        if manifest.generation >= generation { return manifest }
        guard isTorn else {
          throw .damaged(
            DamageLocation(path: env.path),
            reason: "the store was replaced by an older copy of itself; reopen it"
          )
        }
      }
      guard reading.found > 0 else { throw .notAStore(path: env.path) }
      env.platform.pause()
    }
    let reason = "no intact copy of the manifest is as recent as the last one read; \(StoreError.remedy)"
    throw .damaged(DamageLocation(path: env.path), reason: reason)
  }
}
