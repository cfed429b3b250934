internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

/// The store itself, behind the public types: the log, its index, and what keeps them.
///
/// Locks, in the order in which they may be taken: `closing`, `merging`, `opening`, `sealing`, those of feeds, `writer`,
/// `manifests`, `keyspaces` and `segments`, a segment's `growth`, and the commit queue's and the session's. Readers take none of
/// them. What each is held for is in Architecture.md.
@usableFromInline @safe
final class Engine: @unchecked Sendable {
  @usableFromInline let path: String
  let options: Options
  let platform: Platform
  let storeID: StoreID
  let seed: HashSeed
  let verifiesReads: Bool
  let hasDefaultExpiry: Bool
  let onPublish: (@Sendable () -> Void)?

  let epochs = EpochDomain()
  let index: HashIndex
  /// The index for readers, without a reference to count.
  let indexReader: HashIndex.Reader
  let granules: GranuleTable
  let addresses = AddressSpace()
  let reserve: SpaceReserve
  /// Which keys were read lately, in a store of limited capacity.
  let readMarks: ReadMarks?
  /// Bytes that evictions were allowed to spare and did not. Guarded by `merging`.
  var sparingLeft = 0
  let time: StoreTime
  let session: Session?
  let commits: CommitQueue
  let committer: AsyncCommitter
  let writer: Writer
  /// Allocates ahead of the writer.
  let background: BackgroundWorker
  /// Seals, checkpoints and sweeps behind it.
  let keeper: BackgroundWorker
  /// Merges.
  let merger: MergeScheduler

  /// What keeps the store from being used freely; 0 when nothing does.
  let status = Atomic<UInt32>(0)

  enum Status {
    static let closed: UInt32 = 1
    static let readOnly: UInt32 = 2
    static let syncFailed: UInt32 = 4
    /// A read-only store takes in what it cannot read record by record: reads wait.
    static let loading: UInt32 = 8
  }

  /// Every segment: first those that merges wrote, then the log's in its order.
  let segments = Guarded<[Segment]>([], .segments)
  let manifests: Guarded<ManifestState>
  let keyspaces = Guarded<KeyspaceTable>(KeyspaceTable(), .keyspaces)

  /// What other modules keep with the store, by type; nil once it is closed, since it may refer to the store.
  let kept = Guarded<[ObjectIdentifier: any AnyObject & Sendable]?>([:], .kept)

  /// True while writers ask for syncs, so that pages are brought in sparingly.
  let hasSyncDemand = Atomic<Bool>(false)
  let bytesWritten = Atomic<Int>(0)
  /// What all merges did since the store was opened.
  let merges = Guarded<MergeReport>(MergeReport(), .leaf)
  let mergeCount = Atomic<Int>(0)
  /// Segments that a merge is leading the index to and that are not listed yet.
  let incoming = Guarded<[Segment]>([], .segments)
  /// Nanoseconds that writers wait after each mebibyte, because merging is behind, and what the last step still owes.
  let writeDelay = Atomic<UInt64>(0)
  let owedDelay = Atomic<UInt64>(0)
  /// True while so much is dead that full segments must not wait to be sealed.
  let isCrowded = Atomic<Bool>(false)
  /// Segments that were merged away, until the keeper lets go of them.
  let disposed = Guarded<[Segment]>([], .segments)
  /// Bytes in the tail when it was last looked at and was mostly dead; the merge thread's.
  var restingOffset = 0
  let openSnapshots = Atomic<Int>(0)
  let feeds = ChangeFeeds()
  /// True while somebody waits for the next write.
  let isWriteAwaited = Atomic<Bool>(false)
  let events: EventQueue
  let puts = LatencyRecorder()
  let gets = LatencyRecorder()
  /// True when entries of emptied keyspaces may be in the index.
  let needsSweep = Atomic<Bool>(false)
  /// True once a record could not be indexed for want of memory: what the index does not lead to may then be alive.
  let isIndexIncomplete = Atomic<Bool>(false)

  /// True once the log was found to have more keys of one hash than any store has: of those, not all are in the index.
  let isLogMadeUp = Atomic<Bool>(false)

  /// What the opening found wrong with segments; see `addFindings(to:)`.
  let findings = Guarded<[VerificationReport.Damage]>([], .leaf)

  /// Serialises opening, closing, refreshing, and the background's long jobs against closing.
  let opening = Lock(.opening)
  /// Serialises merges.
  let merging = Lock(.merging)
  /// Serialises the sealing of segments.
  let sealing = Lock(.sealing)
  /// Serialises closings; taken before all other locks.
  let closing = Lock(.closing)
  /// Where a read-only store has read to; guarded by `opening`.
  var follower: LogFollower?
  /// The checkpoint that the index was loaded from, until it has all been copied.
  let loadedCheckpoint: LoadedCheckpoint?
  /// Tells other processes how the store is; guarded by `closing` once the store is open.
  var publisher: StatisticsPublisher?
  /// Lets go of what refers to the engine.
  private var breakCycles: () -> Void = {}
  /// Files of segments that recovery cut off, to be removed once the cut is durable. Guarded by the writer's lock.
  var discarded: [String] = []

  struct KeyspaceTable {
    var byName: [String: KeyspaceCore] = [:]
    var byID: [UInt32: KeyspaceCore] = [:]
  }

  /// - Parameter building: the identity of a new store that a copy makes.
  init(path: String, options: Options, host: Host, building: StoreID? = nil) throws(StoreError) {
    let start = host.platform.clock.monotonicNanoseconds()
    try options.check(for: path)
    let directory = StoreDirectory(path: path, host: host, building: building)
    self.path = path
    self.options = options
    events = EventQueue(options.onEvent)
    platform = host.platform
    reserve = SpaceReserve(directory: path, fileSystem: host.platform.fileSystem)
    verifiesReads = options.verification == .everyRead
    hasDefaultExpiry = options.defaultExpiry != .never
    onPublish = host.onPublish.map { look -> (@Sendable () -> Void) in { LockRank.apart { look() } } }
    readMarks = options.capacity.map { ReadMarks(capacity: $0) }

    var opened = try directory.open(readOnly: options.readOnly)
    let manifest = opened.manifest
    session = opened.session
    do throws(StoreError) {
      storeID = manifest.storeID
      seed = manifest.seed
      time = StoreTime(clock: options.clock, atLeast: manifest.storeTime)
      guard let granules = GranuleTable() else {
        throw StoreError.failed(operation: "allocate memory for", path: path, errno: PlatformError.outOfMemory)
      }
      self.granules = granules
      let checkpoint = LoadedCheckpoint.load(manifest, directory: path, host: host)
      loadedCheckpoint = checkpoint.value
      if let damage = checkpoint.damage { opened.damage.append(damage) }
      guard let index = loadedCheckpoint?.makeIndex(epochs: epochs) ?? HashIndex(epochs: epochs) else {
        throw StoreError.failed(
          operation: "allocate memory for the index of",
          path: path,
          errno: PlatformError.outOfMemory
        )
      }
      self.index = index
      indexReader = index.reader
    } catch {
      opened.session?.end()
      throw error
    }

    let failure = FailureRelay()
    writer = Writer(WriterState(nextSequence: manifest.nextSequence))
    commits = CommitQueue(
      published: 0,
      durable: manifest.durableSequence,
      writer: writer,
      session: opened.session,
      clock: host.platform.clock,
      onFailure: { failure.report($0) }
    )
    committer = AsyncCommitter(commits: commits, clock: host.platform.clock)
    manifests = Guarded(
      ManifestState(files: opened.files, manifest: manifest),
      .manifests
    )
    let relay = JobRelay()
    let isThreaded = host.background == .threads
    background = BackgroundWorker(name: "esker-ahead", isThreaded: isThreaded) { relay.engine?.performAhead($0) }
    // Nobody waits for what it does, so it must not take a processor from a writer.
    keeper = BackgroundWorker(name: "esker-keep", isThreaded: isThreaded, givesWay: true) {
      relay.engine?.performKeeping($0)
    }
    merger = MergeScheduler(isThreaded: isThreaded) { relay.engine?.mergeIfDue() ?? .whenAsked }
    if options.readOnly { status.store(Status.readOnly, ordering: .relaxed) }
    failure.engine = self
    relay.engine = self
    breakCycles = {
      failure.engine = nil
      relay.engine = nil
    }

    do throws(StoreError) {
      try recover(manifest, opened, startedAt: start)
      askForMerge()
      startPublishing()
      events.begin()
    } catch {
      abandon()
      events.begin()
      throw error
    }
  }

  deinit {
    granules.deallocate()
    readMarks?.deallocate()
  }

  // Lead closures that were made before the engine to it. They refer to it strongly until it is released: a weak reference
  // would move the engine's reference count to a side table and make every retain of it slow.

  private final class JobRelay: @unchecked Sendable {
    var engine: Engine?
  }

  private final class FailureRelay: @unchecked Sendable {
    var engine: Engine?

    func report(_ code: Int32) { engine?.latch(syncFailure: code) }
  }

  /// Lets the store's handler know, soon: with what locks are held now, it cannot be called.
  func emit(_ event: StoreEvent) {
    // A read-only store delivers them wherever it may have added some, and needs no thread.
    if events.add(event), !options.readOnly { keeper.request(.deliver) }
  }

  /// Refuses all writes from now on: a sync failed, and what the kernel did with the pages is not known.
  func latch(syncFailure code: Int32) {
    status.bitwiseOr(Status.syncFailed, ordering: .sequentiallyConsistent)
    emit(.syncFailed(errno: code))
  }

  @usableFromInline var publishedSequence: UInt64 { commits.published.load(ordering: .acquiring) }
  var durableSequence: UInt64 { commits.durable.load(ordering: .acquiring) }

  /// Throws if the store is closed; in a read-only store, first takes in what the writer has logged meanwhile.
  @inline(never)
  func checkReadable() throws(StoreError) {
    let flags = status.load(ordering: .acquiring)
    if flags & Status.closed != 0 { throw .closed }
    if flags & Status.readOnly != 0 { followIfBehind() }
  }

  /// Ends a store that could not be opened, or whose files are about to go. Nothing is written any more.
  func abandon() {
    status.bitwiseOr(Status.closed, ordering: .sequentiallyConsistent)
    stopPublishing()
    release()
  }

  /// Gives back everything the store holds. Nobody uses it any more.
  func release(givingBackUnused givesBack: Bool = false) {
    manifests.withLock { $0.end() }
    reserve.end()
    feeds.end(self)
    committer.stop()
    background.stop()
    keeper.stop()
    merger.stop()
    epochs.synchronize()
    for segment in segments.withLock({ $0 }) where segment.lease.endResolving() { granules.uninstall(segment) }
    writer.withLock { state in
      state.tail = nil
      state.spares = []
      state.fastEnd = 0
    }
    commits.end()
    follower = nil
    var list = segments.withLock { list -> [Segment] in
      defer { list = [] }
      return list
    }
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
    keyspaces.withLock { $0 = KeyspaceTable() }
    session?.end()
    disposePending()
    breakCycles()
    breakCycles = {}
  }
}
