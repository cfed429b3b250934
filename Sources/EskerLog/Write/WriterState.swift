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
  /// Up to where the tail grows before there is a look whether it is worth more.
  private(set) var tailEnd = 0
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
  private(set) var hasPurged = false

  var keys = KeydirState()

  /// What may be replaced.
  var reusableSpace = ReusableSpace()
  /// The sum over all records since `sumStart`, in units of eight bytes; see ``ReuseWords``.
  private var sum: UInt64 = 0
  private var sumStart: UInt64 = 0
  /// The number of the last record that has replaced another in the tail; 0 if there is none.
  private(set) var lastReuse: UInt64 = 0
  /// Whether one has since the last mark.
  private var isMarkDue = false

  /// True while other processes read the store.
  private(set) var isHeldForReaders = false
  /// When the last look for them began, in nanoseconds of the coarse clock.
  private(set) var lookedAt: UInt64 = 0
  private var isLookAskedFor = false
  /// How many records have replaced others.
  private(set) var recordsReplaced = 0

  mutating func noteLook(at time: UInt64) {
    lookedAt = time
    isLookAskedFor = false
  }

  /// Whether nobody has asked for a look since the last.
  mutating func askForLook() -> Bool {
    defer { isLookAskedFor = true }
    return !isLookAskedFor
  }

  mutating func noteReaders(_ areThere: Bool) {
    guard areThere != isHeldForReaders else { return }
    isHeldForReaders = areThere
    if areThere { reusableSpace.suspend() } else { reusableSpace.resume() }
  }

  private(set) var recordsWritten = 0
  private(set) var bytesLogged = 0
  /// Bytes of those that have replaced others: the log is no longer for them.
  private var bytesReplaced = 0
  /// How many records had been written, and how many had replaced others, when the end of the tail was set.
  private var atTailEnd = (written: 0, replaced: 0)
  /// The same when the mean was last taken, and that.
  private var atMean = (records: 0, bytes: 0, mean: 0)

  /// The mean size of records written lately: each time a quarter of it is that of those since the last time.
  mutating func takeMeanSize() -> Int {
    let records = recordsWritten - atMean.records
    guard records > 0 else { return atMean.mean }
    let mean = (bytesLogged - atMean.bytes) / records
    atMean = (recordsWritten, bytesLogged, atMean.mean == 0 ? mean : atMean.mean + (mean - atMean.mean) / 4)
    return atMean.mean
  }
  /// The length of all of the log when the last checkpoint became due.
  private var lengthAtCheckpoint = 0

  init(nextSequence: UInt64) {
    self.nextSequence = nextSequence
    unsafe base = UnsafeMutableRawPointer(bitPattern: 8).unsafelyUnwrapped
    unsafe scratch = .allocate(byteCount: 16 << 10, alignment: 8)
  }

  deinit {
    unsafe scratch.deallocate()
  }

  /// The tail, and where its records end now.
  var logTail: LogTail { LogTail(segment: tail, end: offset) }

  // MARK: Records

  /// Announces a record that is about to be stored at `offset`: behind the others, or where a dead one is.
  @inline(__always)
  mutating func announce(at offset: Int, size: Int, replaces: Bool) {
    if replaces {
      announceReuse(at: offset, size: size)
    } else if lastReuse != 0 {
      unsafe ReuseLog(base: base).announce(at: UInt64(offset >> 3), replacing: 0)
    }
  }

  /// Safety: the record at `offset` is one that this state has written, so at least its header is there.
  @inline(never)
  private mutating func announceReuse(at offset: Int, size: Int) {
    assert(offset >= reusableSpace.floor && offset + size <= self.offset, "space is given out that is not free")
    let log = unsafe ReuseLog(base: base)
    let former = unsafe (base + offset + 8).load(as: UInt64.self).littleEndian & RecordLayout.maximumSequence
    if lastReuse == 0 { log.begin(sum: sum, start: sumStart) }
    log.announce(at: UInt64(offset >> 3), replacing: former)
    log.note(last: nextSequence)
    lastReuse = nextSequence
    recordsReplaced &+= 1
    isMarkDue = true
    unsafe RecordEncoder.publish(RecordFiller.word(size: size), at: base + offset)
    // No store to the record may come before those above, and the process may end at each.
    atomicMemoryFence(ordering: .acquiringAndReleasing)
    sum &-= ReuseWords.mix(former, at: UInt64(offset >> 3))
  }

  /// Advances past the announced record, which was just published.
  @inline(__always)
  mutating func pass(_ size: Int, at offset: Int, replaces: Bool) {
    sum &+= ReuseWords.mix(nextSequence, at: UInt64(offset >> 3))
    if lastReuse != 0 { unsafe ReuseLog(base: base).set(sum: sum) }
    assert(replaces || offset + size <= (tail?.capacity ?? 0), "a record is where none may be")
    if replaces { bytesReplaced &+= size } else { self.offset &+= size }
    nextSequence &+= 1
    recordsWritten &+= 1
    bytesLogged &+= size
  }

  /// Notes that nothing leads to a record any more, if it is in the tail.
  @inline(__always)
  mutating func free(_ existing: CurrentRecord, _ epochs: EpochDomain) {
    let units = existing.address &- startUnits
    guard units < UInt64(offset >> 3), existing.damage == nil else { return }
    reusableSpace.add(Int(units) << 3, size: existing.size, epochs)
  }

  /// Makes sure that no record that is in the tail now is replaced, and writes a mark if some have replaced others: whatever
  /// stands in front of it is whole if its sum is right.
  ///
  /// Safety: `Writer.tailReserve` bytes are accessible behind the last record, as many as a mark and a seal take. Behind a mark there
  /// may be fewer, but no second one comes before a record has replaced another, for which there was room behind it.
  mutating func freeze() {
    if isMarkDue {
      isMarkDue = false
      let header = RecordHeader(
        sequence: nextSequence &- 1,
        kind: .filler,
        keyHash: sum,
        keyLength: 0,
        valueLength: 0
      )
      let empty = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
      let place = unsafe base + offset
      let firstWord = unsafe RecordEncoder.write(
        header,
        key: empty,
        value: empty,
        bodyChecksum: RecordEncoder.bodyChecksum(key: empty, value: empty),
        salt: salt,
        offsetUnits: UInt32(truncatingIfNeeded: offset >> 3),
        to: place
      )
      unsafe RecordEncoder.publish(firstWord, at: place)
      offset &+= header.size
    }
    reusableSpace.freeze(below: max(offset, Self.leastFloor))
    // The sum of what may change begins here, as long as none is written down: damage in front of it then hides nothing behind it.
    if lastReuse == 0 { (sum, sumStart) = (0, UInt64(offset >> 3)) }
  }

  /// The first record of a segment stays, as it tells where in history the segment begins.
  private static var leastFloor: Int { SegmentHeader.length + 8 }

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
    setTailEnd(offset)
    faultFlag = segment.mapping.faultFlag
    sum = 0
    sumStart = UInt64(offset >> 3)
    lastReuse = 0
    isMarkDue = false
    reusableSpace.begin(above: max(offset, Self.leastFloor), capacity: segment.capacity)
  }

  /// Whether the tail has to end before a record that needs the segment up to `end`. At each multiple of `step` there is a look: it goes
  /// on if many of the last records have taken the room of others.
  mutating func mustEndTail(before end: Int, step: Int) -> Bool {
    guard let tail, end > tailEnd else { return false }
    let written = recordsWritten - atTailEnd.written
    let replaced = recordsReplaced - atTailEnd.replaced
    guard end <= tail.capacity, written == 0 || replaced > written / Self.leastReplaced else { return true }
    setTailEnd(step < tail.capacity ? min(tail.capacity, (end + step - 1) / step * step) : tail.capacity)
    return false
  }

  /// One in how many records must have taken the room of another.
  private static var leastReplaced: Int { 16 }

  /// Sets up to where the tail grows before there is a look.
  private mutating func setTailEnd(_ end: Int) {
    tailEnd = end
    atTailEnd = (recordsWritten, recordsReplaced)
  }

  /// Drops the tail: the next write finds another one.
  mutating func leaveTail() {
    tail = nil
    fastEnd = 0
    reusableSpace.freeze(below: .max)
    lastReuse = 0
    isMarkDue = false
  }

  /// A tail that this process leaves as it is, to go on with it if no other has written meanwhile.
  struct RestingTail {
    fileprivate(set) var segment: Segment?
    fileprivate(set) var offset: Int
    fileprivate(set) var spares: [Segment]
    fileprivate(set) var isMarkedOpen: Bool
    fileprivate var sum: UInt64
    fileprivate var sumStart: UInt64
    fileprivate var lastReuse: UInt64

    /// Where another process can go on; without a segment if it has to look for that itself.
    var baton: Baton {
      var baton = Baton()
      guard isMarkedOpen, let segment else { return baton }
      baton.segment = segment.id
      baton.offset = UInt64(offset)
      (baton.sum, baton.sumStart, baton.lastReuse) = (sum, sumStart, lastReuse)
      return baton
    }
  }

  /// Whether the tail rests: other processes may write.
  private(set) var isResting = false

  /// Leaves the tail as it is, which was frozen: this state only follows what another process writes, until ``wake(_:)`` or a recovery.
  mutating func rest() -> RestingTail {
    assert(!isMarkDue, "a tail rests without a mark")
    let resting = RestingTail(
      segment: tail,
      offset: offset,
      spares: spares,
      isMarkedOpen: isMarkedOpen,
      sum: sum,
      sumStart: sumStart,
      lastReuse: lastReuse
    )
    leaveTail()
    spares = []
    isMarkedOpen = false
    isResting = true
    return resting
  }

  /// Goes on in the tail that another process has left.
  mutating func goOn(at baton: Baton, in segment: Segment, spares: [Segment]) {
    let tail = RestingTail(
      segment: segment,
      offset: Int(baton.offset),
      spares: spares,
      isMarkedOpen: true,
      sum: baton.sum,
      sumStart: baton.sumStart,
      lastReuse: baton.lastReuse
    )
    wake(tail)
    jump(to: max(nextSequence, baton.nextSequence, baton.last &+ 1))
  }

  /// Ends the rest, whatever tail there is to go on in.
  mutating func endRest() { isResting = false }

  /// Goes on in a tail to which no other process has written.
  mutating func wake(_ resting: RestingTail) {
    if let segment = resting.segment { setTail(segment, offset: resting.offset) } else { leaveTail() }
    spares = resting.spares
    isMarkedOpen = resting.isMarkedOpen
    sum = resting.sum
    sumStart = resting.sumStart
    lastReuse = resting.lastReuse
  }

  /// Sets how far a store has read that follows another process: it writes nothing there.
  mutating func follow(_ segment: Segment?, to end: Int) {
    assert(fastEnd == 0, "a store is written that follows another process")
    tail = segment
    offset = end
  }

  /// Takes a spare with a capacity of at least `size` bytes.
  mutating func takeSpare(for size: Int) -> Segment? {
    guard let spare = spare(for: size) else { return nil }
    spares.removeAll { $0 === spare }
    return spare
  }

  /// The spare that ``takeSpare(for:)`` would take.
  func spare(for size: Int) -> Segment? { spares.first { $0.capacity >= size } }

  mutating func addSpares(_ segments: [Segment]) { spares += segments }

  mutating func takeSpares() -> [Segment] {
    defer { spares = [] }
    return spares
  }

  // MARK: Manifest and checkpoints

  mutating func noteMarkedOpen() { isMarkedOpen = true }

  mutating func notePurge() { hasPurged = true }

  /// Whether the log has grown by `interval` bytes since this last returned true; then a checkpoint is due.
  mutating func passedCheckpoint(every interval: Int) -> Bool {
    let length = bytesLogged - bytesReplaced
    guard length - lengthAtCheckpoint >= interval else { return false }
    lengthAtCheckpoint = length
    return true
  }
}

/// Changes the words of the tail. Each store is an instruction of its own, in this order, since the process may end at any.
///
/// Safety: the caller keeps the segment mapped, as `Segment` says of its words.
@safe
private struct ReuseLog {
  private let base: UnsafeMutableRawPointer

  init(base: UnsafeMutableRawPointer) { unsafe self.base = base }

  /// Begins: there are records with that sum from `start` on, in units of eight bytes.
  func begin(sum: UInt64, start: UInt64) {
    store(start, at: .base)
    store(sum, at: .sum)
  }

  /// Announces a record that is about to be written where `former` was, and that replaces it if it is not 0.
  @inline(__always)
  func announce(at place: UInt64, replacing former: UInt64) {
    store(former, at: .former)
    store(place, at: .place)
  }

  /// Says that records replace others, up to a number.
  @inline(__always)
  func note(last: UInt64) { store(last, at: .last) }

  @inline(__always)
  func set(sum: UInt64) { store(sum, at: .sum) }

  @inline(__always)
  private func store(_ value: UInt64, at word: ReuseWords.Word) {
    let place = unsafe base + word.offset
    unsafe place.assumingMemoryBound(to: Atomic<UInt64>.self).pointee.store(value.littleEndian, ordering: .releasing)
  }
}
