internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

/// What the writer works on; guarded by ``Writer``'s lock.
///
/// The tail's fields that every put needs are copied here, so that a put touches no object.
@safe
struct WriterState: ~Copyable {
  var nextSequence: UInt64
  /// The tail's memory, and where the next record goes.
  var base: UnsafeMutableRawPointer
  var offset = 0
  /// Records may end up to here without further ado; beyond it the slow path looks for room. 0: there is no tail.
  var fastEnd = 0
  var salt: UInt32 = 0
  var startUnits: UInt64 = 0
  /// Raised when stores to the tail go nowhere because its file was cut short.
  var faultFlag: FaultFlag?

  /// Where records are put together that are written by a call; see `Engine.append`.
  let scratch: UnsafeMutableRawBufferPointer

  var tail: Segment?
  /// Segments that are listed, have no record, and are ready to become the tail: one, now and then more.
  var spares: [Segment] = []
  /// True once the manifest says that the store is being written, which must be durable before the first record.
  var isMarkedOpen = false
  /// Entries left the index without a record that says so; only a checkpoint can.
  var isReaped = false

  var snapshots: [SnapshotState] = []
  /// The checkpoint that is being copied.
  var checkpoint: CheckpointCut?

  var recordsWritten = 0
  var bytesLogged = 0
  /// `bytesLogged` when the last checkpoint was begun.
  var bytesLoggedAtCheckpoint = 0

  init(nextSequence: UInt64) {
    self.nextSequence = nextSequence
    // Never dereferenced: `fastEnd` is 0 until there is a tail.
    unsafe base = UnsafeMutableRawPointer(bitPattern: 8).unsafelyUnwrapped
    unsafe scratch = .allocate(byteCount: 16 << 10, alignment: 8)
  }

  deinit {
    unsafe scratch.deallocate()
  }
}

/// Serialises writes.
///
/// The state lives behind a pointer and is handed out `inout`: stored properties of a class would pay a dynamic exclusivity
/// check at each access, several for each put.
@safe
final class Writer: @unchecked Sendable {
  @usableFromInline let lock = Lock(.writer)
  private let state: UnsafeMutablePointer<WriterState>

  init(_ initial: consuming WriterState) {
    unsafe state = .allocate(capacity: 1)
    unsafe state.initialize(to: initial)
  }

  deinit {
    unsafe state.deinitialize(count: 1)
    unsafe state.deallocate()
  }

  @inline(__always)
  func withLock<R: ~Copyable, E: Error>(_ body: (inout WriterState) throws(E) -> R) throws(E) -> R {
    lock.lock()
    defer { lock.unlock() }
    return try unsafe body(&state.pointee)
  }
}
