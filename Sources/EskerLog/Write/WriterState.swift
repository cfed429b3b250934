internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

/// What the writer works on; guarded by the writer's lock.
///
/// The tail's fields that every put needs are copied here, so that a put touches no object.
///
/// Safety: `base` is the memory of `tail`, which keeps it mapped. It is stored to only from `offset` on and below `fastEnd`, which
/// is 0 as long as there is no tail, or for a record that `Writer.hasRoom` has found room for. The state owns `scratch`.
@safe
struct WriterState: ~Copyable {
  private(set) var nextSequence: UInt64
  /// The tail's memory, and where the next record goes.
  private(set) var base: UnsafeMutableRawPointer
  private(set) var offset = 0
  /// Records may end up to here without further ado; beyond it the slow path looks for room. 0: there is no tail.
  private(set) var fastEnd = 0
  private(set) var salt: UInt32 = 0
  private(set) var startUnits: UInt64 = 0
  /// Raised when stores to the tail go nowhere because its file was cut short.
  private(set) var faultFlag: FaultFlag?

  /// Where records are put together that are written by a call; see `Writer.append`.
  let scratch: UnsafeMutableRawBufferPointer

  private(set) var tail: Segment?
  /// Segments that are listed, have no record, and are ready to become the tail: one, now and then more.
  private(set) var spares: [Segment] = []
  /// True once the manifest says that the store is being written, which must be durable before the first record.
  private(set) var isMarkedOpen = false
  /// True while a record that found no room several times is waited for.
  private(set) var keepsOthersOut = false
  /// Entries left the index without a record that says so; only a checkpoint can.
  private(set) var isReaped = false

  var keys = KeysState()

  private(set) var recordsWritten = 0
  private(set) var bytesLogged = 0
  /// `bytesLogged` when the last checkpoint was begun.
  private(set) var bytesLoggedAtCheckpoint = 0

  init(nextSequence: UInt64) {
    self.nextSequence = nextSequence
    unsafe base = UnsafeMutableRawPointer(bitPattern: 8).unsafelyUnwrapped
    unsafe scratch = .allocate(byteCount: 16 << 10, alignment: 8)
  }

  deinit {
    unsafe scratch.deallocate()
  }

  /// Where a segment's records end now, if it is the tail.
  func end(of segment: Segment) -> Int? { tail === segment ? offset : nil }

  // MARK: Records

  /// Goes on behind a record that was just published.
  @inline(__always)
  mutating func pass(_ size: Int) {
    assert(offset + size <= (tail?.capacity ?? 0), "a record is where none may be")
    offset &+= size
    nextSequence &+= 1
    recordsWritten &+= 1
    bytesLogged &+= size
  }

  /// Records may end up to there without further ado.
  mutating func open(to end: Int) { fastEnd = end }

  /// Lets nobody write for whom room is not there already, so that a large record gets what is made for it.
  mutating func keepOthersOut(_ keepsOut: Bool) { keepsOthersOut = keepsOut }

  /// Goes on with a later number.
  mutating func jump(to sequence: UInt64) {
    assert(sequence >= nextSequence, "a number is given out twice")
    nextSequence = sequence
  }

  #if DEBUG
    /// Goes on with any number. For tests.
    mutating func forge(nextSequence: UInt64) { self.nextSequence = nextSequence }
  #endif

  // MARK: The tail

  /// Goes on in a segment, at an offset.
  mutating func setTail(_ segment: Segment, offset: Int) {
    tail = segment
    unsafe base = segment.base
    salt = segment.salt
    startUnits = segment.startUnits
    self.offset = offset
    fastEnd = 0
    faultFlag = segment.mapping.faultFlag
  }

  /// There is no tail: the next write looks for one.
  mutating func leaveTail() {
    tail = nil
    fastEnd = 0
  }

  /// Shows where a read-only store has read to: nothing is written there.
  mutating func follow(_ segment: Segment?, to end: Int) {
    assert(fastEnd == 0, "a read-only store is written")
    tail = segment
    offset = end
  }

  /// Takes a spare that has room for so many bytes.
  mutating func takeSpare(for size: Int) -> Segment? {
    spares.firstIndex { $0.capacity >= size }.map { spares.remove(at: $0) }
  }

  mutating func addSpares(_ segments: [Segment]) { spares += segments }

  mutating func takeSpares() -> [Segment] {
    defer { spares = [] }
    return spares
  }

  // MARK: What the manifest and checkpoints have to say

  mutating func noteMarkedOpen() { isMarkedOpen = true }

  mutating func noteReaped() { isReaped = true }

  /// Whether so much was logged since this was last true; then a checkpoint is due.
  mutating func passedCheckpoint(every interval: Int) -> Bool {
    guard bytesLogged - bytesLoggedAtCheckpoint >= interval else { return false }
    bytesLoggedAtCheckpoint = bytesLogged
    return true
  }
}
