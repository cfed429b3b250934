internal import EskerFormat

// When dead records must not be replaced, and who is told that some were.
extension Writer {
  /// Bytes kept free at the tail for a mark.
  var markReserve: Int { env.reusesRoom ? Segment.markLength : 0 }
  /// Bytes kept free at the tail.
  var tailReserve: Int { Segment.tailReserve + markReserve }

  /// Makes sure that what is in the tail now stays there, if it has records up to a number; for a sync, a checkpoint, a snapshot.
  func freeze(upTo sequence: UInt64 = .max) {
    withLock { state in
      guard let tail = state.tail, tail.firstSequence <= sequence else { return }
      freeze(&state)
    }
  }

  /// The same, under the lock.
  func freeze(_ state: inout WriterState) {
    guard state.tail != nil else { return }
    if state.lastReuse != 0 { catalog.noteReuse(through: state.lastReuse) }
    state.freeze()
  }

  /// Keeps all records from now on: somebody reads the log.
  func holdRoom() {
    withLock { state in
      freeze(&state)
      state.room.hold()
    }
  }

  func letGoOfRoom() { withLock { $0.room.letGo() } }

  // MARK: Other processes

  /// The offset of a dead record of that size, whose room may be taken now: none as long as another process reads the store.
  @inline(__always)
  func takeRoom(for size: Int, _ state: inout WriterState) -> Int? {
    guard let offset = state.room.take(size) else { return nil }
    if env.session?.beginReuse() == true { return offset }
    noteReaders(&state)
    return nil
  }

  /// Writes a mark once another process reads the store: behind it, numbers ascend again, and it can follow.
  @inline(__always)
  func markForReaders(_ state: inout WriterState) {
    if !state.isHeldForReaders, env.session?.areReaders == true { noteReaders(&state) }
  }

  /// Looks whether other processes still read the store, if some did. Takes some microseconds.
  func lookForReaders() {
    guard env.reusesRoom, let session = env.session, withLock({ $0.isHeldForReaders }) else { return }
    // In this order: whoever comes after the look sets it again.
    session.set(areReaders: false)
    if ReaderPresence.isAny(in: env.path, env.platform.fileSystem) {
      session.set(areReaders: true)
    } else {
      withLock { $0.noteReaders(false) }
    }
  }

  @inline(never)
  private func noteReaders(_ state: inout WriterState) {
    freeze(&state)
    state.noteReaders(true)
  }
}
