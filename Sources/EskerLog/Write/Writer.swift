internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

/// Appends records to the log, in one order, and applies them to the index. LevelDB calls this a log writer, RocksDB a write
/// controller.
///
/// Invariants: sequence numbers ascend by one within a segment, except for records that take the room of dead ones, which nobody needs
/// that has raised the floor of ``ReusableSpace``; while the lock is free, the next number is one more than the last
/// published one; the manifest says that the store is open, and lists the tail, before the tail's first record is written; a write
/// that fails after its bytes may have reached the log throws `outcomeUnknown`.
///
/// The state is behind a pointer and passed `inout`: stored properties of a class would cost a dynamic exclusivity check on each
/// access, several per put. Calls the keydir, the catalog, commits and the environment. Thread safety: any
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
  // Copies, which save a put one indirection.
  let onPublish: (@Sendable () -> Void)?
  let time: StoreTime
  /// The most bytes of records that one write may take: half of the capacity.
  let mostBytes: Int

  /// Serialises making room: creating, growing and listing the segments that records go to.
  let rolling = Lock(.rolling)
  @usableFromInline let lock = Lock(.writer)
  private let state: UnsafeMutablePointer<WriterState>
  /// Nanoseconds that writers wait after each mebibyte because merging is behind, and nanoseconds that are still to be waited.
  /// Relaxed: nothing is read through them.
  private let delay = Atomic<UInt64>(0)
  private let owed = Atomic<UInt64>(0)

  init(_ keydir: Keydir, nextSequence: UInt64) {
    env = keydir.env
    catalog = keydir.catalog
    commits = catalog.commits
    self.keydir = keydir
    onPublish = env.onPublish
    time = env.time
    mostBytes = (env.settings.capacity ?? .max) / 2
    unsafe state = .allocate(capacity: 1)
    unsafe state.initialize(to: WriterState(nextSequence: nextSequence))
    // Until it is known that nobody reads the store.
    withLock { state in
      if env.reusesSpace { state.noteReaders(true) } else { state.reusableSpace.suspend() }
    }
  }

  deinit {
    unsafe state.deinitialize(count: 1)
    unsafe state.deallocate()
  }

  /// Runs a body that may write records or change the index, under the writer's lock.
  @inline(__always)
  func withLock<R: ~Copyable, E: Error>(_ body: (inout WriterState) throws(E) -> R) throws(E) -> R {
    lock.lock()
    defer { lock.unlock() }
    return try unsafe body(&state.pointee)
  }

  /// The last write that anybody may have seen. The index has a write shortly before it is published: this waits for the one under way.
  var lastVisible: UInt64 { withLock { _ in commits.publishedSequence } }

  /// Lets others take the lock between two holds of it in a row, of those that a long walk is made of: it is not fair, and without a pause
  /// writers would hardly ever get it.
  func letOthersIn() { env.workers.maintainer.yield() }

  /// Whether `size` bytes can be written at the tail; never more than `mostBytes`. Throws unless the store accepts writes.
  @inline(__always)
  func hasRoom(for size: Int, isAlone: Bool, _ state: inout WriterState) throws(StoreError) -> Bool {
    if !env.isUnhindered { try env.checkWritable() }
    return state.offset &+ size <= state.fastEnd || goOn(for: size, isAlone, &state)
  }

  // MARK: Backpressure

  func slowDown(by nanoseconds: UInt64) { delay.store(nanoseconds, ordering: .relaxed) }

  /// Whether a writer should call ``takeOwed()``.
  @inline(__always)
  var isOwing: Bool { owed.load(ordering: .relaxed) != 0 }

  /// Takes the nanoseconds that the caller is to wait.
  func takeOwed() -> UInt64 { owed.exchange(0, ordering: .relaxed) }

  /// Makes the next writer check whether full segments are waiting to be sealed, and ask for a look whether a merge is due.
  func owe() { owed.max(1, ordering: .relaxed) }

  /// Makes the next writer wait for the last step of writes.
  func oweDelay() {
    let delay = delay.load(ordering: .relaxed)
    if delay != 0 { owed.store(delay / (commits.hasDemand ? 8 : 1), ordering: .relaxed) }
  }
}
