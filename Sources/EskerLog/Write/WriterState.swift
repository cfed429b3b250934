internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

/// The writer's state, guarded by the writer's lock.
///
/// Has copies of the tail's fields that every put needs, so that a put accesses no object.
///
/// Safety: `base` is the memory of `tail`, which keeps it mapped. It is stored to only from `offset` on and below `fastEnd`, which
/// is 0 as long as there is no tail, or for a record that `Writer.hasRoom` has found room for. The state owns `scratch`.
@safe
struct WriterState: ~Copyable {
  private(set) var nextSequence: UInt64
  /// The tail's memory, and the offset of the next record.
  private(set) var base: UnsafeMutableRawPointer
  private(set) var offset = 0
  /// Records up to this offset take the fast path; beyond it, the slow path looks for room. 0 if there is no tail.
  private(set) var fastEnd = 0
  private(set) var salt: UInt32 = 0
  private(set) var startUnits: UInt64 = 0
  /// Raised when stores to the tail are lost because its file was truncated.
  private(set) var faultFlag: FaultFlag?

  /// Where records are assembled that are written by a system call; see `Writer.append`.
  let scratch: UnsafeMutableRawBufferPointer

  private(set) var tail: Segment?
  /// Listed, empty segments that are ready to become the tail: usually one.
  private(set) var spares: [Segment] = []
  /// True once the manifest durably says that the store is being written, as it must before the first record.
  private(set) var isMarkedOpen = false
  /// True while only a write that repeatedly found no room may use new room.
  private(set) var keepsOthersOut = false
  /// True once entries left the index without a tombstone: then only a checkpoint records that.
  private(set) var isReaped = false

  var keys = KeysState()

  private(set) var recordsWritten = 0
  private(set) var bytesLogged = 0
  /// `bytesLogged` when the last checkpoint became due.
  private(set) var bytesLoggedAtCheckpoint = 0

  init(nextSequence: UInt64) {
    self.nextSequence = nextSequence
    unsafe base = UnsafeMutableRawPointer(bitPattern: 8).unsafelyUnwrapped
    unsafe scratch = .allocate(byteCount: 16 << 10, alignment: 8)
  }

  deinit {
    unsafe scratch.deallocate()
  }

  /// The current end of a segment's records, if it is the tail.
  func end(of segment: Segment) -> Int? { tail === segment ? offset : nil }

  // MARK: Records

  /// Advances past a record that was just published.
  @inline(__always)
  mutating func pass(_ size: Int) {
    assert(offset + size <= (tail?.capacity ?? 0), "a record is where none may be")
    offset &+= size
    nextSequence &+= 1
    recordsWritten &+= 1
    bytesLogged &+= size
  }

  mutating func open(to end: Int) { fastEnd = end }

  /// Reserves new room for the one write that has repeatedly found none; others may use only the room that is already open.
  mutating func keepOthersOut(_ keepsOut: Bool) { keepsOthersOut = keepsOut }

  /// Continues with a later sequence number.
  mutating func jump(to sequence: UInt64) {
    assert(sequence >= nextSequence, "a number is given out twice")
    nextSequence = sequence
  }

  #if DEBUG
    /// Continues with any sequence number. For tests.
    mutating func forge(nextSequence: UInt64) { self.nextSequence = nextSequence }
  #endif

  // MARK: The tail

  /// Continues in a segment, at an offset.
  mutating func setTail(_ segment: Segment, offset: Int) {
    tail = segment
    unsafe base = segment.base
    salt = segment.salt
    startUnits = segment.startUnits
    self.offset = offset
    fastEnd = 0
    faultFlag = segment.mapping.faultFlag
  }

  /// Drops the tail: the next write finds another one.
  mutating func leaveTail() {
    tail = nil
    fastEnd = 0
  }

  /// Sets how far a read-only store has read: it writes nothing there.
  mutating func follow(_ segment: Segment?, to end: Int) {
    assert(fastEnd == 0, "a read-only store is written")
    tail = segment
    offset = end
  }

  /// Takes a spare with a capacity of at least `size` bytes.
  mutating func takeSpare(for size: Int) -> Segment? {
    spares.firstIndex { $0.capacity >= size }.map { spares.remove(at: $0) }
  }

  mutating func addSpares(_ segments: [Segment]) { spares += segments }

  mutating func takeSpares() -> [Segment] {
    defer { spares = [] }
    return spares
  }

  // MARK: Manifest and checkpoints

  mutating func noteMarkedOpen() { isMarkedOpen = true }

  mutating func noteReaped() { isReaped = true }

  /// Whether `interval` bytes were logged since this last returned true; then a checkpoint is due.
  mutating func passedCheckpoint(every interval: Int) -> Bool {
    guard bytesLogged - bytesLoggedAtCheckpoint >= interval else { return false }
    bytesLoggedAtCheckpoint = bytesLogged
    return true
  }
}
