internal import EskerFormat

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
      if areReaders { session.set(areReaders: true) } else if isHeld { state.noteReaders(false) }
      state.noteLook(at: start)
    }
  }

  @inline(never)
  private func noteReaders(_ state: inout WriterState) {
    freeze(&state)
    state.noteReaders(true)
  }
}
