internal import EskerFormat
internal import EskerPlatform

/// The space of dead records at the tail, which new records of the same size may take.
///
/// A record is free once another one has superseded it, if it was written after the last sync began and after the last checkpoint,
/// snapshot or batch: nobody but a reader with a pin can need it then. It is given out once every pin of that time has ended.
///
/// Guarded by the writer's lock, as a part of its state.
struct ReusableSpace {
  /// Records in front of this offset stay as they are.
  private(set) var floor = Int.max
  /// Offsets in units of eight bytes, by the size of the record in the same unit.
  private var ready: [[UInt32]] = []
  /// The sizes for which `ready` may have any.
  private var sizes: Set<Int> = []
  /// What was freed since the last epoch ended.
  private var young: [Slot] = []
  /// What waits for the pins of its time to end, the oldest first.
  private var aging: [(epoch: UInt64, slots: [Slot])] = []
  /// The number of records freed before an epoch ends: ending one costs a fence and a look at each thread.
  private var batch = 64

  private struct Slot {
    var place: UInt32
    var units: UInt32
  }

  /// From now on, only what is written at or behind an offset may be replaced.
  mutating func freeze(below offset: Int) {
    floor = offset
    guard !isEmpty else { return }
    for units in sizes { ready[units].removeAll(keepingCapacity: true) }
    sizes.removeAll(keepingCapacity: true)
    young.removeAll(keepingCapacity: true)
    aging.removeAll(keepingCapacity: true)
    isEmpty = true
  }

  /// Whether nothing was freed since the floor was set.
  private var isEmpty = true
  /// The number of holders that forbid reuse: nothing is free while there is one.
  private var suspensions = 0

  mutating func suspend() { suspensions += 1 }

  mutating func resume() {
    assert(suspensions > 0, "reuse is resumed more often than suspended")
    suspensions -= 1
  }

  /// Continues in another segment, which has room for that many bytes of records.
  mutating func begin(above offset: Int, capacity: Int) {
    freeze(below: offset)
    batch = capacity >= 1 << 20 ? 64 : 2
  }

  /// Notes that nothing leads to a record any more.
  @inline(__always)
  mutating func add(_ offset: Int, size: Int, _ epochs: EpochDomain) {
    guard offset >= floor, size <= RecordFiller.largest, suspensions == 0 else { return }
    isEmpty = false
    young.append(Slot(place: UInt32(truncatingIfNeeded: offset >> 3), units: UInt32(truncatingIfNeeded: size >> 3)))
    if young.count >= batch { endEpoch(epochs) }
  }

  /// Takes space for a record of that size; returns its offset, or nil if there is none.
  @inline(__always)
  mutating func take(_ size: Int) -> Int? {
    let units = size >> 3
    guard !isEmpty, units < ready.count, let place = ready[units].popLast() else { return nil }
    return Int(place) << 3
  }

  /// Takes back what was given out and not used, under the same lock.
  mutating func giveBack(_ offset: Int, size: Int) {
    assert(offset >= floor && suspensions == 0, "space is given back that may not be used")
    ready[size >> 3].append(UInt32(truncatingIfNeeded: offset >> 3))
  }

  @inline(never)
  private mutating func endEpoch(_ epochs: EpochDomain) {
    aging.append((epochs.mark(), young))
    young.removeAll(keepingCapacity: true)
    if ready.isEmpty { ready = Array(repeating: [], count: RecordFiller.largest >> 3 + 1) }
    var passed = 0
    while passed < aging.count, epochs.hasPassed(aging[passed].epoch) {
      for slot in aging[passed].slots {
        let units = Int(slot.units)
        if ready[units].isEmpty { sizes.insert(units) }
        ready[units].append(slot.place)
      }
      passed += 1
    }
    aging.removeFirst(passed)
  }
}

// When dead records must not be replaced, and how other processes learn that some were.
extension Writer {
  /// Bytes kept free at the tail.
  var tailReserve: Int { catalog.tailReserve }

  /// Makes sure that what is in the tail now stays there, if it has records up to a number; for a sync.
  ///
  /// - Returns: the number up to which all records stay.
  func freeze(upTo sequence: UInt64) -> UInt64 {
    withLock { state in
      guard let tail = state.tail, tail.firstSequence <= sequence else { return sequence }
      freeze(&state)
      return max(sequence, state.nextSequence &- 1)
    }
  }

  /// The same, under the lock.
  func freeze(_ state: inout WriterState) {
    guard state.tail != nil else { return }
    if state.lastReuse != 0 { catalog.noteReuse(through: state.lastReuse) }
    state.freeze()
  }

  /// Keeps all records from now on, because something reads the log.
  func suspendReuse() {
    withLock { state in
      freeze(&state)
      state.reusableSpace.suspend()
    }
  }

  func resumeReuse() { withLock { $0.reusableSpace.resume() } }

  // MARK: Other processes

  /// The offset of a dead record of that size, whose room may be taken now: none as long as another process reads the store, or one may
  /// that could not say so since the last look.
  @inline(__always)
  func takeReusableSpace(for size: Int, _ state: inout WriterState) -> Int? {
    guard let offset = state.reusableSpace.take(size) else { return nil }
    guard let session = env.session, session.beginReuse() else {
      noteReaders(&state)
      return nil
    }
    // Behind the announcement: a reader that waits for the next look sees either that or that it is done.
    let age = env.platform.clock.coarseNanoseconds() &- state.lookedAt
    if age > LockFile.lookInterval / 2 { askForLook(&state) }
    guard age < LockFile.lookInterval else {
      session.endReuse()
      state.reusableSpace.giveBack(offset, size: size)
      return nil
    }
    return offset
  }

  @inline(never)
  private func askForLook(_ state: inout WriterState) {
    if state.askForLook() { env.workers.ahead.request(.lookForReaders) }
  }

  /// Writes a mark once another process reads the store: behind it, numbers ascend again, and it can follow.
  @inline(__always)
  func markForReaders(_ state: inout WriterState) {
    if !state.isHeldForReaders, env.session?.areReaders == true { noteReaders(&state) }
  }

  /// Looks whether other processes read the store. Takes some microseconds. One look at a time, with `rolling` held: what the first finds
  /// must not be undone by a second that began before.
  func lookForReaders() {
    guard env.reusesSpace, let session = env.session else { return }
    // A reader that comes from now on waits until this has passed.
    let start = env.platform.clock.coarseNanoseconds()
    let isHeld = withLock { state in
      // In this order: a reader that comes after the look sets it again. As long as records are being replaced, it is not taken back.
      if state.isHeldForReaders { session.set(areReaders: false) }
      return state.isHeldForReaders
    }
    let areReaders = ReaderPresence.isAny(in: env.path, env.platform.fileSystem)
    withLock { state in
      if areReaders {
        session.set(areReaders: true)
      } else if isHeld {
        // A reader that is gone may still look at what it has seen: a suspended store does.
        freeze(&state)
        state.noteReaders(false)
      }
      state.noteLook(at: start)
    }
  }

  @inline(never)
  private func noteReaders(_ state: inout WriterState) {
    freeze(&state)
    state.noteReaders(true)
  }
}
