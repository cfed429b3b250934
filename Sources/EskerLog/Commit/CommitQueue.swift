internal import EskerPlatform
internal import Synchronization

/// Makes writes durable: one sync for all threads that wait at the same time.
///
/// A thread that finds no sync in progress becomes the leader: it waits briefly for as many threads as the last sync
/// served, notes the last published sequence number S, and syncs in order every log segment with unsynced bytes at or
/// below S; then everything up to S is durable. The others wait, and the first thread that this sync did not cover leads
/// the next one (group commit as in DeWitt et al. 1984). This keeps the order of history across segments: no write
/// becomes durable before an older one.
///
/// A failed sync is permanent: the durable number freezes, and every later wait throws. Thread safety: any thread.
///
/// Safety: threads may share it: everything that changes is atomic or guarded by `lock`, except `lastLook`, which only
/// the leader uses, and leaders succeed one another under the lock.
final class CommitQueue: @unchecked Sendable {
  /// The last sequence number whose record is completely in the log.
  ///
  /// Stored releasing and loaded acquiring: a thread that sees a number sees the records up to it.
  private let published = Atomic<UInt64>(0)
  /// Everything up to here is on stable storage. Not above `published`, once the store is open.
  private let durable: Atomic<UInt64>

  private let env: Environment

  /// The last write that is visible to all readers.
  var publishedSequence: UInt64 { published.load(ordering: .acquiring) }

  /// The last write that survives a power failure.
  var durableSequence: UInt64 { durable.load(ordering: .acquiring) }

  /// Relaxed: a hint.
  private let isWanted = Atomic<Bool>(false)
  private let lock = Lock(.commits)
  private let turnstiles = Turnstiles()
  // Guarded by `lock`.
  private var isLed = false
  /// What the sync in progress covers; nil while its leader is still gathering others.
  private var target: UInt64?
  /// How many threads wait for the next sync, including its leader. A hint: of some that gave up, nothing is taken off.
  private var joined = 0
  /// How many threads are waiting. Relaxed: whoever looks does so again.
  private let waiters = Atomic<Int>(0)
  /// How many threads waited for the last sync when it began.
  private var expected = 0
  /// How many records the last sync covered. Relaxed: a hint.
  private let coveredRecords = Atomic<UInt64>(0)
  private var failure: Int32?
  private var isEnded = false
  private var unsynced: [Segment] = []
  /// In a suspended store, the last write of its own: what other processes write is in segments that only they sync.
  private var lastOwn: UInt64?
  /// The segment whose file an eviction is removing.
  private var removing: Segment?
  /// What the writer does before a sync, and says of its tail.
  private var tail: Tail?
  private var histogram = Statistics.Histogram()
  /// When the segments' link counts were last checked; used by the leader only.
  private var lastLook: UInt64 = 0

  /// How often they are checked, in nanoseconds: the check costs a few percent of a sync.
  private static let lookInterval: UInt64 = 1_000_000

  /// How often a leader yields to other threads while it gathers them: about 60 microseconds on an idle machine.
  static let gatheringTurns = 128

  init(durable: UInt64, _ env: Environment) {
    self.durable = Atomic(durable)
    self.env = env
  }

  /// Makes everything up to `sequence` visible. Called with the writer's lock held.
  @inline(__always)
  func publish(_ sequence: UInt64) {
    assert(sequence >= published.load(ordering: .relaxed), "what is visible stays so")
    // Readers first: whoever sees the number here, and then lets a reader catch up, finds it there.
    env.session?.notePublished(sequence)
    published.store(sequence, ordering: .releasing)
  }

  /// Sets both numbers, as an opening found them. No other thread uses the store yet.
  func begin(published: UInt64, durable: UInt64) {
    assert(durable <= published, "only what is visible can be durable")
    self.published.store(published, ordering: .releasing)
    self.durable.store(durable, ordering: .releasing)
  }

  /// Notes that everything up to `sequence` is on stable storage: an opening wrote it again, or another process says so.
  func noteDurable(_ sequence: UInt64) {
    assert(sequence <= published.load(ordering: .relaxed), "only what is visible can be durable")
    durable.max(sequence, ordering: .releasing)
  }

  /// Adds a segment, whose records come after those of all segments added before.
  func add(_ segment: Segment) {
    lock.withLock { unsynced.append(segment) }
  }

  /// Waits until nobody waits for a sync.
  func awaitIdle() {
    while waiters.load(ordering: .relaxed) > 0 { env.platform.pause() }
  }

  /// From now on, what is published may be what another process has written. Called under the writer's lock.
  func letGo() {
    let last = publishedSequence
    lock.withLock { lastOwn = last }
  }

  /// The last write that this process has to make durable: of all, or as long as another process writes, of its own.
  var lastToSync: UInt64 { lock.withLock { lastOwn } ?? publishedSequence }

  /// What is published is this process's to sync again.
  ///
  /// - Parameter segments: All that are listed, in the order of the log.
  func takeOver(_ segments: [Segment]) {
    let durable = durableSequence
    let doubtful = segments.filter { segment in
      segment.kind == .log && segment.firstSequence != 0 && (!segment.isSealed || segment.lastSequence > durable)
    }
    lock.withLock { (lastOwn, unsynced) = (nil, doubtful) }
  }

  /// Notes the segment whose file is being removed, which a sync may find without a name; nil once that is done, or has failed. It stays
  /// among those to be synced until it is forgotten.
  func note(removing segment: Segment?) {
    lock.withLock { removing = segment }
  }

  /// Drops a segment whose records are durable or gone. A sync in progress may still include it.
  func forget(_ segment: Segment) {
    lock.withLock { unsynced.removeAll { $0 === segment } }
  }

  /// What the leader of a sync calls, without a lock.
  struct Tail: Sendable {
    /// Where a segment's records end by now.
    var recordsEnd: @Sendable (Segment) -> Int?
    /// Makes sure that records up to a number stay where they are; returns the number up to which that is so, which may be higher.
    var freeze: @Sendable (UInt64) -> UInt64
  }

  /// Sets what the leader calls.
  func begin(_ tail: Tail) {
    lock.withLock { self.tail = tail }
  }

  /// Notes that writers wait for syncs, so that fewer pages are faulted in ahead of the tail.
  func noteDemand() {
    if !hasDemand { isWanted.store(true, ordering: .relaxed) }
  }

  /// Whether any writers wait for syncs.
  var hasDemand: Bool { isWanted.load(ordering: .relaxed) }

  /// Drops all segments: from now on nothing is synced, and nothing becomes durable.
  func end() {
    // Released outside the lock: it may hold the last reference to the store.
    _ = lock.withLock {
      isEnded = true
      unsynced = []
      return tail.take()
    }
  }

  /// Whether a sync covers so many records that they fill whole pages.
  var coversMany: Bool { coveredRecords.load(ordering: .relaxed) >= 64 }

  var latencies: Statistics.Histogram { lock.withLock { histogram } }

  /// Waits until everything up to `sequence` is durable. Must not be called with the writer's lock held.
  ///
  /// - Parameter onlyThrough: Skips segments that hold only later records; for background work, which must not make the
  ///   disk write a tail that nobody waits for.
  func waitDurable(_ sequence: UInt64, onlyThrough: Bool = false) throws(StoreError) {
    guard durable.load(ordering: .acquiring) < sequence else { return }
    waiters.wrappingAdd(1, ordering: .relaxed)
    defer { waiters.wrappingSubtract(1, ordering: .relaxed) }
    var isCounted = false
    while durable.load(ordering: .acquiring) < sequence {
      lock.lock()
      if let lastOwn, sequence > lastOwn {
        // Another process has written that, and syncs it.
        lock.unlock()
        throw .suspended(path: env.path)
      }
      if failure != nil || isEnded {
        let error = failure.map { StoreError.syncFailed(errno: $0) } ?? .closed
        lock.unlock()
        throw error
      }
      let isCovered = target.map { $0 >= sequence } ?? false
      if !isCovered, !isCounted {
        isCounted = true
        joined += 1
      }
      if isLed {
        let turn = turnstiles.turn
        let isNext = target != nil && !isCovered
        lock.unlock()
        turnstiles.wait(for: turn, isNext: isNext)
      } else if durable.load(ordering: .acquiring) < sequence {
        isLed = true
        lock.unlock()
        lead(through: onlyThrough ? sequence : .max)
      } else {
        lock.unlock()
      }
    }
  }

  /// Waits briefly for as many threads as the last sync served: its end has just woken them, and they are about to write
  /// again.
  private func gather() {
    var turns = 0
    while turns < Self.gatheringTurns, lock.withLock({ joined < expected }) {
      Platform.yieldThread()
      turns += 1
    }
  }

  private func lead(through limit: UInt64) {
    gather()
    // The number is that of the moment of the freeze: a record in front of a mark that was synced must not have a higher one than is
    // called durable, or else damage to it would pass for the end of the log.
    let (tail, lastOwn) = lock.withLock { (self.tail, self.lastOwn) }
    let sought = min(published.load(ordering: .acquiring), limit, lastOwn ?? .max)
    var target = tail?.freeze(sought) ?? sought
    lock.lock()
    // As is that of a segment that has become full meanwhile: it is synced as a whole.
    for segment in unsynced where segment.kind == .log && segment.isSealed && segment.firstSequence <= target {
      target = max(target, segment.lastSequence)
    }
    self.target = target
    let covered = joined
    joined = 0
    let segments = unsynced.filter { segment in
      let first = segment.firstSequence
      return first != 0 && first <= target
    }
    lock.unlock()
    // Relaxed: a hint.
    coveredRecords.store(target &- min(target, durable.load(ordering: .relaxed)), ordering: .relaxed)
    let start = env.platform.clock.monotonicNanoseconds()
    // Another process may have merged what a suspended store has written.
    let isDue = start &- lastLook >= Self.lookInterval && lastOwn == nil
    let code = sync(segments, tail, looksAtNames: isDue)
    if isDue { lastLook = start }
    let end = env.platform.clock.monotonicNanoseconds()
    if code != 0 { env.latch(syncFailure: code) }
    lock.lock()
    histogram.record(nanoseconds: end &- start)
    if code != 0 { failure = code }
    // A sync elsewhere that failed meanwhile may have consumed the error that this one would have received.
    let isFailed = failure != nil
    if !isFailed, !isEnded {
      durable.max(target, ordering: .releasing)
      unsynced.removeAll {
        $0.isSealed && $0.lastSequence <= target
      }
    }
    expected = covered
    isLed = false
    self.target = nil
    let turn = turnstiles.endTurn()
    lock.unlock()
    turnstiles.wake(after: turn, everybody: isFailed)
  }

  /// Syncs the segments in order; returns the error number of the first failure, or 0.
  private func sync(
    _ segments: [Segment],
    _ tail: Tail?,
    looksAtNames: Bool
  ) -> Int32 {
    let noted = env.session?.beginSync()
    var isDone = false
    defer { if let noted { env.session?.end(noted, failed: !isDone) } }
    for segment in segments {
      do throws(PlatformError) {
        if coversMany {
          segment.detachUnsynced(below: tail?.recordsEnd(segment) ?? 0)
        }
        try segment.sync()
        // A file without a name disappears with this process, so syncing it makes nothing durable. That is a failure
        // unless a merge removed the file, which calls `forget` first, or an eviction is at it.
        if looksAtNames, try segment.file.status().linkCount == 0, mustHaveName(segment) {
          throw .sync(path: segment.path, code: PlatformError.notFound)
        }
        if segment.mapping.isFaulted, isUnsynced(segment) {
          throw .sync(path: segment.path, code: PlatformError.inputOutput)
        }
      } catch {
        // The segment no longer needs syncing; its file rests, and may have been removed.
        if !error.isSync, !isUnsynced(segment) { continue }
        env.session?.syncFailed(error.code)
        return error.code
      }
    }
    isDone = true
    return 0
  }

  private func isUnsynced(_ segment: Segment) -> Bool {
    lock.withLock { unsynced.contains { $0 === segment } }
  }

  private func mustHaveName(_ segment: Segment) -> Bool {
    lock.withLock { removing !== segment && unsynced.contains { $0 === segment } }
  }

  /// Freezes the durable number because a sync elsewhere in the store failed.
  func fail(_ code: Int32) {
    env.session?.syncFailed(code)
    lock.lock()
    let isFirst = failure == nil
    if isFirst { failure = code }
    let turn = turnstiles.endTurn()
    lock.unlock()
    turnstiles.wake(after: turn, everybody: true)
    if isFirst { env.latch(syncFailure: code) }
  }

  /// Freezes the durable number if the error is from a sync, of any file: a retry that succeeds would prove nothing.
  func noteFailure(_ error: PlatformError) {
    if error.isSync { fail(error.code) }
  }

  var failureCode: Int32? { lock.withLock { failure } }
}
