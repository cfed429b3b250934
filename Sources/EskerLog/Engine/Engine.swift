internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

/// The store behind the public types: creates, opens and closes its parts, and connects them where a call needs more than one.
///
/// Each part owns its state and calls only the parts above it in the list of properties. Architecture.md lists their invariants
/// and the locks.
///
/// Safety: threads may share it. Its parts are safe for many threads and never replaced. `findings` changes only in `init`, before
/// another thread has the engine; the properties behind `turning` are guarded by that, except in `init`.
@usableFromInline
final class Engine: @unchecked Sendable {
  let env: Environment
  let commits: CommitQueue
  let committer: AsyncCommitter
  let catalog: Catalog
  let keydir: Keydir
  let writer: Writer
  let maintainer: Maintainer
  let feeds: Feeds
  let merger: Merger
  let follower: Follower
  /// The damage to segments found on opening; see `addFindings(to:)`. Constant once the store is open.
  private(set) var findings: [Report.Verification.Damage] = []
  /// Objects that other modules attach to the store, by type; nil once it is closed, since they may refer to the store.
  let kept = Guarded<[ObjectIdentifier: any AnyObject & Sendable]?>([:], .kept)
  let batchMemory = BatchMemory()
  /// Serialises calls of `close()`; taken before all other locks.
  let closing = Lock(.closing)
  /// Serialises letting go of the files and taking them back. Guards what follows, once the store is open.
  let turning = Lock(.turning)
  /// Publishes statistics for other processes.
  var publisher: StatisticsPublisher?
  /// Of a suspended store, what it goes on with if no other process writes meanwhile.
  var restingTail: WriterState.RestingTail?
  /// The manifest that was in effect when this process let go of the files.
  var followedFrom: UInt64 = 0
  /// When the present turn has begun, in nanoseconds of monotonic time.
  var turnBegan: UInt64 = 0
  /// How many threads are about to do what they took the turn for. Raised under `turning`.
  let claims = Atomic<Int>(0)
  /// Where writes wait while the store is suspended.
  let resumption = Resumption()
  /// How often work in the background was broken off because a turn ended, since it last came to an end.
  var brokenOff = 0
  /// Hands the files over to processes that ask for them, in a store that is written to in turn.
  let watch = Guarded<TurnWatch?>(nil, .leaf)

  /// - Parameter building: the identity of the new store, if it is being made as a copy.
  init(path: String, options: Options, host: StoreHost, building: StoreID? = nil) throws(StoreError) {
    let start = host.platform.clock.monotonicNanoseconds()
    try options.check(for: path)
    var host = host
    let attributes = options.fileAttributes
    if !attributes.isEmpty {
      host.platform.fileSystem = AttributingFileSystem(host.platform.fileSystem, attributes)
    }
    let settings = StoredSettings(Options.Settings().changed(by: options))
    let directory = StoreDirectory(
      path: path,
      host: host,
      building: building,
      settings: settings,
      attributes: attributes
    )
    var opened = try directory.open(readOnly: options.readOnly, inTurn: options.sharing != .exclusive)
    let manifest = opened.manifest
    env = Environment(
      path: path,
      options: options,
      host: host,
      manifest: manifest,
      session: opened.session,
      presence: opened.presence,
      isBeside: opened.session != nil && opened.presence != nil
    )
    do throws(StoreError) {
      commits = CommitQueue(durable: manifest.durableSequence, env)
      catalog = try Catalog(env, commits, opened.files, manifest, lacksHistory: opened.lacksHistory)
      let checkpoint = try translating { () throws(PlatformError) in
        try LoadedCheckpoint.load(manifest, directory: path, host: host)
      }
      if let damage = checkpoint.damage { opened.damage.append(damage) }
      keydir = try Keydir(catalog, loadedFrom: checkpoint.value)
    } catch {
      opened.session?.end()
      throw error
    }
    committer = AsyncCommitter(commits: commits, clock: host.platform.clock)
    writer = Writer(keydir, nextSequence: manifest.nextSequence)
    maintainer = Maintainer(writer)
    feeds = Feeds(writer)
    merger = Merger(maintainer, feeds)
    follower = Follower(writer, feeds)
    do throws(StoreError) {
      try recover(manifest, opened, startedAt: start)
    } catch {
      abandon()
      if error != StoreError.overtaken(at: path) { env.beginEvents() }
      throw error
    }
  }

  /// Starts all parts and recovers their state from the files.
  private func recover(
    _ manifest: Manifest,
    _ opened: StoreDirectory.Opened,
    startedAt start: UInt64
  ) throws(StoreError) {
    commits.begin(
      CommitQueue.Tail { [writer] segment in
        writer.withLock { $0.logTail.recordsEnd(of: segment) }
      } freeze: { [writer] sequence in
        writer.freeze(upTo: sequence)
      }
    )
    // Parts that refer to the engine hold a strong reference until it is released: a weak one would move the engine's reference
    // count to a side table and slow down every retain.
    keydir.keyspaces.begin(catalog.manifest) { [self] row in KeyspaceCore(row, of: self) }
    maintainer.begin()
    var recovery = Recovery(writer)
    try recovery.recover(manifest, opened, startedAt: start)
    findings = recovery.findings
    if env.isFollowing {
      if !env.options.readOnly { waitForTurn() }
      follower.begin(at: recovery.place)
    } else {
      try recordSettings()
    }
    keydir.reviewPages()
    merger.begin()
    startPublishing()
    watchForRequests()
    env.beginEvents()
  }

  /// Leaves the files to the process that has them, as a suspended store does.
  private func waitForTurn() {
    env.workers.suspend()
    writer.withLock { _ = $0.rest() }
    env.session?.tellReaders(false)
    commits.letGo()
    env.presence?.end()
  }

  /// Records the settings if the opening changed them.
  private func recordSettings() throws(StoreError) {
    guard catalog.settings != StoredSettings(env.settings) else { return }
    // If a crash left nothing of the log, the number at which the next write begins is recorded with its segment, not before:
    // until then it would pass for the end of history. That edit records the settings too.
    guard catalog.lastLogSegment != nil || catalog.manifest.state == .clean else { return }
    do throws(StoreError) {
      try catalog.commit(.settings(nextSequence: writer.withLock { $0.nextSequence }))
    } catch {
      // A full store can be opened, perhaps with a capacity that makes room; any later edit records the settings too.
      guard error.bytesLacking != nil else { throw error }
    }
  }

  /// Has the history say, instead of that the store was created, what it was made of: what was intact elsewhere.
  func noteRepair(_ losses: [Report.Verification.Damage]) {
    var report = Report.Opening(kind: .repaired, time: env.options.clock.now())
    report.isComplete = true
    report.lastSequence = SequenceNumber(rawValue: publishedSequence)
    report.keys = keydir.keyspaces.count
    report.damage = losses
    report.damageCount = losses.count
    catalog.note(report)
  }

  @usableFromInline var publishedSequence: UInt64 { commits.publishedSequence }
  var durableSequence: UInt64 { commits.durableSequence }

  /// The store as it is now, without disk waits. A store that follows a writer first catches up with it, and the snapshot is not
  /// taken in the middle of that.
  ///
  /// - Parameter isBetween: Whether to wait for the end of a merge, so that it does not show both its inputs and its outputs.
  func snapshot(betweenMerges isBetween: Bool = false) throws(StoreError) -> Snapshot {
    try checkBeforeRead()
    // While it takes the files over, too.
    let state = try following(env.isFollowing || env.isSuspended || isBetween) { () throws(StoreError) in
      guard isBetween else { return try SnapshotState.open(of: writer) }
      return try maintainer.holdingImages { () throws(StoreError) in try SnapshotState.open(of: writer) }
    }
    return Snapshot(of: writer, state)
  }

  /// Runs a body while no new records of another process are read, if there may be any.
  private func following<R>(_ isNeeded: Bool, _ body: () throws(StoreError) -> R) throws(StoreError) -> R {
    isNeeded ? try follower.holding(body) : try body()
  }

  /// Ends a store that could not be opened, or whose files are about to be removed, without writing anything.
  func abandon() {
    _ = env.markClosed()
    endWatch()
    stopPublishing()
    follower.end {}
    release()
  }

  /// Releases everything the store holds. It must no longer be in use. Called with no lock held but `closing`, for which no pinned
  /// thread waits: code that a value is lent to must not close a store.
  func release(givingBackUnused givesBack: Bool = false) {
    catalog.end()
    feeds.end()
    committer.stop()
    env.workers.stop()
    env.epochs.synchronize(holding: .closing)
    var list = catalog.takeAll()
    writer.withLock { state in
      state.leaveTail()
      _ = state.takeSpares()
    }
    commits.end()
    while var segment = list.popLast() {
      // Space that a segment allocated and did not use is cut off once nothing maps it: a mapped page must keep its storage.
      // If an entry of a snapshot still holds the segment, the next close does that. A file shared with a backup is left alone.
      if givesBack, segment.recordsEnd != nil, isKnownUniquelyReferenced(&segment),
        segment.mapping.length > segment.usedLength, (try? segment.file.status().linkCount) == 1
      {
        segment.mapping.unmap()
        try? segment.file.truncate(segment.usedLength)
      }
    }
    keydir.keyspaces.end()
    env.session?.end()
    env.presence?.end()
    catalog.disposePending()
  }
}
