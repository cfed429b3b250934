internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

/// Lets a read-only store, or one that is suspended, follow what a writer in another process logs.
///
/// Invariants: whenever a snapshot can be taken, the index contains complete batches, in a state that the writer had; a
/// manifest is adopted only when the index contains everything that was durable when it was written. Calls feeds,
/// recovery, the writer, the keydir, the catalog, commits and the environment. Thread safety: any thread.
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
  /// The position in the log; nil in a store that may write. Guarded by `following`.
  private var position: LogPosition?

  init(_ writer: Writer, _ feeds: Feeds) {
    env = writer.env
    commits = writer.commits
    catalog = writer.catalog
    keydir = writer.keydir
    self.writer = writer
    self.feeds = feeds
  }

  /// Starts where an opening has read to.
  func begin(at place: (segment: Segment, offset: Int)?) {
    following.withLock { begin(at: place, generation: catalog.manifest.generation) }
  }

  /// Begins to follow at the place that a body returns, which lets go of the files.
  func begin(lettingGo body: () -> (segment: Segment, offset: Int)?) {
    following.withLock {
      let place = body()
      // A process that took the files over and then wrote nothing may have dropped segments that are still listed. Another may use them.
      begin(at: place, generation: catalog.hasAllListed ? catalog.manifest.generation : 0)
    }
  }

  /// Begins behind all that is published. Called with `following` held.
  private func begin(at place: (segment: Segment, offset: Int)?, generation: UInt64) {
    let published = commits.publishedSequence
    var position = LogPosition(expected: published &+ 1, whole: published, generation: generation)
    if let place {
      position.segment = place.segment
      position.offset = place.offset
    }
    self.position = position
    publish(position)
  }

  /// Reads all that other processes have written, and stops following once a body has taken the files over, to which none of them can write
  /// any more. If either fails, it goes on following.
  func end(takingOver body: (LogPosition) throws(StoreError) -> Void) throws(StoreError) {
    var events: [StoreEvent] = []
    defer { for event in events { env.emit(event) } }
    try following.withLock { () throws(StoreError) in
      try follow(lookingAtManifest: true, isAlone: true, &events)
      guard let position else { return }
      env.follow(false)
      do throws(StoreError) { try body(position) } catch {
        env.follow(true)
        throw error
      }
      self.position = nil
    }
  }

  /// Stops following, and runs a body before another thread can take the lock.
  func end<R>(_ body: () -> R) -> R {
    following.withLock {
      position = nil
      return body()
    }
  }

  /// Runs a body while no new records are read.
  func holding<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    try following.withLock(body)
  }

  /// Reads new records if there may be any. Cheap if there are none.
  func followIfBehind() {
    guard following.tryLock() else {
      // Another thread is following. While it loads, the index is in a state that the writer's never was in.
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

  /// Reads everything that was written before the call.
  func refresh() throws(StoreError) {
    try env.checkOpen()
    guard env.isFollowing else { return }
    var events: [StoreEvent] = []
    following.lock()
    var failure: StoreError?
    do throws(StoreError) { try follow(lookingAtManifest: true, &events) } catch { failure = error }
    following.unlock()
    for event in events { env.emit(event) }
    env.deliverEvents()
    if let failure { throw failure }
  }

  /// Continues reading the log, and adopts newer manifests. Called with `following` held.
  ///
  /// A manifest is adopted only when the index contains everything that was durable when it was written: until then,
  /// records in a segment that is no longer listed may still be alive at the number that the store shows.
  ///
  /// - Parameter isAlone: Whether no other process can write.
  /// - Throws: If a manifest or a segment cannot be read. The store then shows the same state as before, or a later one.
  private func follow(
    lookingAtManifest: Bool,
    isAlone: Bool = false,
    _ events: inout [StoreEvent]
  ) throws(StoreError) {
    guard var follower = position else { return }
    defer { position = follower }
    // A suspended store holds no lock, but while it reads on: until then, no record is replaced that it is about to meet.
    let visit = env.options.readOnly || isAlone ? nil : try ReaderPresence(in: env.path, env.platform)
    defer { visit?.end() }
    // What is written from now on may wait for the next call.
    let presence = visit ?? env.presence
    let last = presence?.published ?? .max
    let start = follower.whole
    var isKnown = readOn(&follower, through: last)
    guard lookingAtManifest || follower.isHeldUp || !isKnown || mayShowEvicted(follower, since: start, presence) else {
      return
    }
    var tries = 0
    while true {
      let seen = follower.whole
      let edits = presence?.edits
      let newest = try manifestOfWriter(atLeast: follower.generation)
      let manifest = try withoutEvicted(newest, follower)
      if manifest.generation == follower.generation {
        if manifest.segments.count < catalog.manifest.segments.count { adopt(manifest, &follower, &events) }
        follower.edits = edits
        // Every keyspace would be listed by now.
        if !isKnown { isKnown = readOn(&follower, through: last, acceptingAll: true) }
        if isBehindSkippedNumbers(follower) { loadSkipped(manifest, through: last, &follower, &events) }
        if hasLooked(at: follower, since: seen) { break }
        continue
      }
      guard let opened = try openListed(manifest, &events) else {
        tries += 1
        // The writer continues meanwhile, and each manifest lists what the one before did not.
        guard tries < LogPosition.mostTries else {
          throw .overtaken(at: env.path)
        }
        env.platform.pause()
        continue
      }
      let arriving = opened.filter { $0.kind != .log || (catalog.firstNumber(of: $0) ?? .max) <= follower.whole }
      enter(opened, manifest)
      // First what was written before the manifest and has not been read yet.
      readOn(&follower, through: max(last, manifest.durableSequence))
      if follower.whole >= manifest.durableSequence {
        for segment in arriving { follow(segment, through: follower.whole, &events) }
        adopt(manifest, &follower, &events)
      } else {
        load(manifest, opened, through: last, &follower, &events)
      }
      isKnown = readOn(&follower, through: last)
      if isKnown, !isBehindSkippedNumbers(follower), hasLooked(at: follower, since: seen) { break }
    }
    follower.failures = 0
  }

  /// Whether nothing was read since the last look at what a store with a capacity has evicted.
  ///
  /// An eviction has no number. A value that was evicted, and then removed, must not be shown beside what was written later: so there is a
  /// look behind the last record that was read.
  private func hasLooked(at follower: LogPosition, since seen: UInt64) -> Bool {
    follower.whole == seen || catalog.manifest.settings.capacity == 0
  }

  /// Whether something may have been evicted that was there at the last look at the manifest.
  private func mayShowEvicted(_ follower: LogPosition, since seen: UInt64, _ presence: ReaderPresence?) -> Bool {
    if hasLooked(at: follower, since: seen) { return false }
    guard let edits = follower.edits, presence?.edits == edits else { return true }
    guard let next = catalog.manifest.nextEviction else { return false }
    return (try? isThere(next)) != true
  }

  private func isThere(_ row: SegmentRow) throws(StoreError) -> Bool {
    try translating { () throws(PlatformError) in
      try env.platform.fileSystem.status("\(env.path)/\(FileName.segment(row.id))") != nil
    }
  }

  /// A manifest without the segments that have made room since it was written.
  private func withoutEvicted(_ manifest: Manifest, _ follower: LogPosition) throws(StoreError) -> Manifest {
    guard manifest.generation == follower.generation else {
      return try manifest.withoutEvicted(in: env.path, env.platform.fileSystem)
    }
    // The same one as the last time: as long as the next one to go is there, so are all others.
    let known = catalog.manifest
    guard let next = known.nextEviction else { return known }
    return try isThere(next) ? known : known.withoutEvicted(in: env.path, env.platform.fileSystem)
  }

  /// Whether the log continues with a higher number than the next: a recovery has skipped some, unless a newer manifest
  /// shows otherwise.
  private func isBehindSkippedNumbers(_ follower: LogPosition) -> Bool {
    if let vain = follower.vainExpected, vain == (follower.expected, follower.lastReuse) { return false }
    return isBehindReplaced(follower) || follower.isBehindSegment && hasRecordsBeyond(follower)
  }

  private func loadSkipped(
    _ manifest: Manifest,
    through last: UInt64,
    _ follower: inout LogPosition,
    _ events: inout [StoreEvent]
  ) {
    let expected = follower.expected
    load(manifest, [], through: last, &follower, &events)
    if follower.expected == expected { follower.vainExpected = (expected, follower.lastReuse) }
  }

  /// Reads the newest manifest.
  ///
  /// - Throws: ``StoreError/otherStore(path:)`` if it belongs to another store, ``StoreError/damaged(_:reason:)`` if it
  ///   is older than the last one read, or no copy is intact.
  private func manifestOfWriter(atLeast generation: UInt64) throws(StoreError) -> Manifest {
    for _ in 0..<LogPosition.mostTries {
      let reading = try catalog.readCopies()
      // The copies are read one after the other, and each may have been being written at that moment.
      let isTorn = !reading.damage.isEmpty
      if let manifest = reading.newest {
        guard manifest.storeID == env.storeID else { throw .otherStore(path: env.path) }
        if manifest.generation >= generation { return manifest }
        guard isTorn else {
          throw .damaged(
            StoreError.Location(path: env.path),
            reason: "the store was replaced by an older copy of itself; reopen it"
          )
        }
      }
      guard reading.found > 0 else { throw .notAStore(path: env.path) }
      env.platform.pause()
    }
    let reason = "no intact copy of the manifest is as recent as the last one read; \(StoreError.remedy)"
    throw .damaged(StoreError.Location(path: env.path), reason: reason)
  }
}
