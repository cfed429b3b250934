internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

/// Writes records at the end of the log, in one order, and lets them take effect. What LevelDB calls a log writer, and RocksDB a
/// write controller.
///
/// Keeps: numbers ascend by one within a segment; when the lock is free, the next number is one more than the last published
/// one; the manifest says that the store is open, and lists the tail, before the first record stands there; a write that failed
/// after its bytes may be in the log is told as such.
///
/// The state lives behind a pointer and is handed out `inout`: stored properties of a class would pay a dynamic exclusivity
/// check at each access, several for each put. Calls the keydir, the catalog, commits and the environment. Thread safety: any
/// thread.
///
/// Safety: threads may share it. Its properties are constants, locks, or atomic, except `state`, which `init` creates and
/// `deinit` frees. Only `withLock` hands it out, under `lock`, which is not recursive: so never twice at once.
@safe
final class Writer: @unchecked Sendable {
  let env: Environment
  let commits: CommitQueue
  let catalog: Catalog
  let keydir: Keydir
  // Copies, so that a put follows one reference less.
  let onPublish: (@Sendable () -> Void)?
  let time: StoreTime

  /// Serialises what makes room: creating, growing and listing the segments that records go to.
  let rolling = Lock(.rolling)
  @usableFromInline let lock = Lock(.writer)
  private let state: UnsafeMutablePointer<WriterState>
  /// Nanoseconds that writers wait after each mebibyte, because merging is behind, and what the last step still owes. Relaxed:
  /// nothing is read through them.
  private let delay = Atomic<UInt64>(0)
  private let owed = Atomic<UInt64>(0)

  init(_ keydir: Keydir, nextSequence: UInt64) {
    env = keydir.env
    catalog = keydir.catalog
    commits = catalog.commits
    self.keydir = keydir
    onPublish = env.onPublish
    time = env.time
    unsafe state = .allocate(capacity: 1)
    unsafe state.initialize(to: WriterState(nextSequence: nextSequence))
  }

  deinit {
    unsafe state.deinitialize(count: 1)
    unsafe state.deallocate()
  }

  /// Runs a body that may write, or change where the index leads.
  @inline(__always)
  func withLock<R: ~Copyable, E: Error>(_ body: (inout WriterState) throws(E) -> R) throws(E) -> R {
    lock.lock()
    defer { lock.unlock() }
    return try unsafe body(&state.pointee)
  }

  // MARK: Backpressure

  /// Makes writers wait so many nanoseconds after each mebibyte.
  func slowDown(by nanoseconds: UInt64) { delay.store(nanoseconds, ordering: .relaxed) }

  /// Whether the last step of writes has something to wait for.
  @inline(__always)
  var isOwing: Bool { owed.load(ordering: .relaxed) != 0 }

  /// What it has to wait, in nanoseconds; nothing from now on.
  func takeOwed() -> UInt64 { owed.exchange(0, ordering: .relaxed) }

  /// Has the next writer look whether full segments wait to be sealed.
  func owe() { owed.max(1, ordering: .relaxed) }

  /// Has the next writer wait for a step of writes.
  func oweDelay() {
    let delay = delay.load(ordering: .relaxed)
    if delay != 0 { owed.store(delay / (commits.hasDemand ? 8 : 1), ordering: .relaxed) }
  }
}
