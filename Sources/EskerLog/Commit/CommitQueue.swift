internal import EskerPlatform
internal import Synchronization

/// Makes writes durable: one sync for all who wait at the same time.
///
/// Whoever finds no sync under way leads: it notes the last published sequence number S, syncs in order every log segment
/// with unsynced bytes at or below S, and then everything up to S is durable. All others wait, and the first of those
/// whom that sync did not cover leads the next (group commit as in DeWitt et al. 1984). Across a rotation this keeps the
/// order of history: no write becomes durable before an older one.
///
/// A failed sync is never forgotten: the durable number freezes and every later wait throws.
final class CommitQueue: @unchecked Sendable {
  /// The last sequence number whose record is wholly in the log.
  let published: Atomic<UInt64>
  /// Everything up to here is on stable storage.
  let durable: Atomic<UInt64>

  private let session: Session?
  private let clock: any SystemClock
  private let onFailure: @Sendable (Int32) -> Void

  private let lock = Lock()
  private let condition = Condition()
  // Guarded by `lock`.
  private var isLed = false
  private var failure: Int32?
  private var unsynced: [Segment] = []
  private var histogram = LatencyHistogram()
  /// When the segments' names were last looked at; the leader's.
  private var lastLook: UInt64 = 0

  /// How often, in nanoseconds: the look costs as much as a few percent of a sync.
  private static let lookInterval: UInt64 = 1_000_000

  init(
    published: UInt64,
    durable: UInt64,
    session: Session?,
    clock: any SystemClock,
    onFailure: @escaping @Sendable (Int32) -> Void
  ) {
    self.published = Atomic(published)
    self.durable = Atomic(durable)
    self.session = session
    self.clock = clock
    self.onFailure = onFailure
  }

  /// Names a segment that gets records after all that were named before.
  func add(_ segment: Segment) {
    lock.withLock { unsynced.append(segment) }
  }

  /// Lets go of all segments: nothing is synced any more.
  func forgetSegments() {
    lock.withLock { unsynced = [] }
  }

  var latencies: LatencyHistogram { lock.withLock { histogram } }

  /// Waits until everything up to `sequence` is durable.
  ///
  /// - Parameter onlyThrough: syncs no segment that holds only later records; for the background, which must not make the
  ///   disk write a tail that nobody waits for.
  func waitDurable(_ sequence: UInt64, onlyThrough: Bool = false) throws(StoreError) {
    if durable.load(ordering: .acquiring) >= sequence { return }
    lock.lock()
    defer { lock.unlock() }
    while durable.load(ordering: .acquiring) < sequence {
      if let failure { throw .syncFailed(errno: failure) }
      if isLed {
        condition.wait(lock)
        continue
      }
      isLed = true
      lead(through: onlyThrough ? sequence : .max)
      isLed = false
      condition.broadcast()
    }
  }

  /// Syncs. Called with the lock held and as the leader; lets the lock go meanwhile.
  private func lead(through limit: UInt64) {
    lock.unlock()
    let target = min(published.load(ordering: .acquiring), limit)
    lock.lock()
    let segments = unsynced.filter { segment in
      let first = segment.firstSequence.load(ordering: .relaxed)
      return first != 0 && first <= target
    }
    lock.unlock()
    let start = clock.monotonicNanoseconds()
    let code = sync(segments, looksAtNames: start &- lastLook >= Self.lookInterval)
    if start &- lastLook >= Self.lookInterval { lastLook = start }
    let end = clock.monotonicNanoseconds()
    if code != 0 { onFailure(code) }
    lock.lock()
    histogram.record(nanoseconds: end &- start)
    guard code == 0 else {
      failure = code
      return
    }
    durable.store(target, ordering: .releasing)
    unsynced.removeAll { $0.isSealed.load(ordering: .acquiring) && $0.lastSequence.load(ordering: .relaxed) <= target }
  }

  /// Syncs the segments in order; the error number of the first failure, or 0.
  private func sync(_ segments: [Segment], looksAtNames: Bool) -> Int32 {
    session?.syncBegan()
    for segment in segments {
      do throws(PlatformError) {
        try segment.file.sync()
        // A file without a name is gone with this process: syncing it keeps no promise.
        if looksAtNames, try segment.file.status().linkCount == 0 {
          throw PlatformError("sync", path: segment.path, code: 2)
        }
        if segment.mapping.isFaulted { throw PlatformError("sync", path: segment.path, code: 5) }
      } catch {
        session?.syncFailed(error.code)
        return error.code
      }
    }
    session?.syncEnded()
    return 0
  }

  /// Freezes the durable number after a sync elsewhere in the store failed.
  func fail(_ code: Int32) {
    session?.syncFailed(code)
    let isFirst = lock.withLock {
      defer { condition.broadcast() }
      guard failure == nil else { return false }
      failure = code
      return true
    }
    if isFirst { onFailure(code) }
  }

  /// Freezes the durable number if what failed was a sync, of whatever file: a retry that succeeds would prove nothing.
  func noteFailure(_ error: PlatformError) {
    if error.operation.hasPrefix("sync") { fail(error.code) }
  }

  var failureCode: Int32? { lock.withLock { failure } }
}
