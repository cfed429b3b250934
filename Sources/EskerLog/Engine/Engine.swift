internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

/// The store itself, behind the public types: makes its parts, opens and closes them, and joins them where a call takes more
/// than one.
///
/// Each part owns its state and calls only those above it in this list. What each keeps, and which locks there are, is in
/// Architecture.md.
///
/// Safety: threads may share it. Its parts are safe for many threads and never replaced. `findings` changes only in `init`, before
/// another thread has the engine; `publisher` is guarded by `closing`, except in `init`.
@usableFromInline
final class Engine: @unchecked Sendable {
  let env: Environment
  let commits: CommitQueue
  let committer: AsyncCommitter
  let catalog: Catalog
  let keydir: Keydir
  let writer: Writer
  let keeper: Keeper
  let feeds: Feeds
  let merger: Merger
  let follower: Follower
  /// What the opening found wrong with segments; see `addFindings(to:)`. Changes no more once the store is open.
  private(set) var findings: [VerificationReport.Damage] = []
  /// What other modules keep with the store, by type; nil once it is closed, since it may refer to the store.
  let kept = Guarded<[ObjectIdentifier: any AnyObject & Sendable]?>([:], .kept)
  /// Serialises closings; taken before all other locks.
  let closing = Lock(.closing)
  /// Tells other processes how the store is; guarded by `closing` once the store is open.
  var publisher: StatisticsPublisher?

  /// - Parameter building: the identity of a new store that a copy makes.
  init(path: String, options: Options, host: Host, building: StoreID? = nil) throws(StoreError) {
    let start = host.platform.clock.monotonicNanoseconds()
    try options.check(for: path)
    let directory = StoreDirectory(path: path, host: host, building: building)
    var opened = try directory.open(readOnly: options.readOnly)
    let manifest = opened.manifest
    env = Environment(path: path, options: options, host: host, manifest: manifest, session: opened.session)
    do throws(StoreError) {
      commits = CommitQueue(durable: manifest.durableSequence, env)
      catalog = try Catalog(env, commits, opened.files, manifest)
      let checkpoint = LoadedCheckpoint.load(manifest, directory: path, host: host)
      if let damage = checkpoint.damage { opened.damage.append(damage) }
      keydir = try Keydir(catalog, loadedFrom: checkpoint.value)
    } catch {
      opened.session?.end()
      throw error
    }
    committer = AsyncCommitter(commits: commits, clock: host.platform.clock)
    writer = Writer(keydir, nextSequence: manifest.nextSequence)
    keeper = Keeper(writer)
    feeds = Feeds(writer)
    merger = Merger(keeper, feeds)
    follower = Follower(writer, feeds)
    do throws(StoreError) {
      try recover(manifest, opened, startedAt: start)
    } catch {
      abandon()
      env.beginEvents()
      throw error
    }
  }

  /// Begins the work of all parts, and brings them to the state that the files show.
  private func recover(
    _ manifest: Manifest,
    _ opened: StoreDirectory.Opened,
    startedAt start: UInt64
  ) throws(StoreError) {
    commits.begin { [writer] segment in writer.withLock { $0.end(of: segment) } }
    // What refers to the whole store does so strongly until it is released: a weak reference would move the engine's
    // reference count to a side table and make every retain of it slow.
    keydir.keyspaces.begin(catalog.manifest.keyspaces) { [self] row in KeyspaceCore(row, of: self) }
    keeper.begin()
    var recovery = Recovery(writer)
    try recovery.recover(manifest, opened, startedAt: start)
    for case .damaged(let location, let reason) in recovery.findings where location.segment != nil {
      findings.append(.init(location: location, length: 0, reason: reason))
    }
    if env.options.readOnly { follower.begin(at: recovery.place) }
    merger.begin()
    startPublishing()
    env.beginEvents()
  }

  @usableFromInline var publishedSequence: UInt64 { commits.publishedSequence }
  var durableSequence: UInt64 { commits.durableSequence }

  /// Throws if the store is closed; in a read-only store, first takes in what the writer has logged meanwhile. Costs one look
  /// where neither is the case.
  @inline(__always)
  func checkBeforeRead() throws(StoreError) {
    if !env.isUnhindered { try checkReadable() }
  }

  @inline(never)
  private func checkReadable() throws(StoreError) {
    try env.checkOpen()
    if env.options.readOnly { follower.followIfBehind() }
  }

  /// The store as it is now, waiting for no disk. In a read-only store, which takes in what its writer has logged first, that
  /// comes to an end before.
  func snapshot() throws(StoreError) -> Snapshot {
    try checkBeforeRead()
    let state =
      try env.options.readOnly
      ? follower.holding { () throws(StoreError) in try SnapshotState.open(of: writer) }
      : SnapshotState.open(of: writer)
    return Snapshot(of: writer, state)
  }

  /// Ends a store that could not be opened, or whose files are about to go. Nothing is written any more.
  func abandon() {
    _ = env.markClosed()
    stopPublishing()
    release()
    follower.end()
  }

  /// Gives back everything the store holds. Nobody uses it any more.
  func release(givingBackUnused givesBack: Bool = false) {
    catalog.end()
    feeds.end()
    committer.stop()
    env.workers.stop()
    env.epochs.synchronize()
    var list = catalog.takeAll()
    writer.withLock { state in
      state.leaveTail()
      _ = state.takeSpares()
    }
    commits.end()
    while var segment = list.popLast() {
      // What a segment allocated and did not use is cut off once nothing maps it: a mapped page must keep its storage. If
      // an entry of a snapshot is still about, that is left to the next close.
      // A file that a backup shares stays as it is.
      if givesBack, isKnownUniquelyReferenced(&segment), segment.mapping.length > segment.usedLength,
        (try? segment.file.status().linkCount) == 1
      {
        segment.mapping.unmap()
        try? segment.file.truncate(segment.usedLength)
      }
    }
    keydir.keyspaces.end()
    env.session?.end()
    catalog.disposePending()
  }
}
