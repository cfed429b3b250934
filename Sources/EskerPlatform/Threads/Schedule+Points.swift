#if SCHEDULES
  import CEskerShims

  #if canImport(Darwin)
    import Darwin
  #elseif canImport(Musl)
    import Musl
  #else
    import Glibc
  #endif

  /// What locks, conditions, threads and atomics call. Each returns at once for a thread that is no member of a run.
  ///
  /// Safety: a mutex and a word are those of a lock and a turnstile that the calling thread is in a call of, so they are there. The others
  /// are known by their addresses alone.
  extension Schedule {
    // MARK: Locks

    /// Before a lock is taken: returns when it is free, and nobody else can take it.
    @usableFromInline
    static func willLock(_ lock: UInt, _ rank: LockRank) {
      guard let schedule = mine else { return }
      schedule.point(.lock, lock, rank)
      schedule.take(lock, rank)
    }

    /// Before an attempt at a lock.
    @usableFromInline
    static func willTryLock(_ lock: UInt, _ rank: LockRank) { mine?.point(.tryLock, lock, rank) }

    /// After an attempt that was successful.
    @usableFromInline
    static func didTryLock(_ lock: UInt, _ rank: LockRank) {
      guard let schedule = mine else { return }
      schedule.holders[lock] = schedule.current
    }

    /// After a lock was released.
    @usableFromInline
    static func didUnlock(_ lock: UInt, _ rank: LockRank) {
      guard let schedule = mine else { return }
      schedule.holders[lock] = nil
      schedule.release(.lock(lock))
      schedule.point(.unlock, lock, rank)
    }

    /// A lock without a rank is a test's: nothing of the engine's happens under it, so it gives no choice.
    private func point(_ kind: ScheduleEvent.Kind, _ lock: UInt, _ rank: LockRank) {
      if rank.position >= 0 { point(ScheduleEvent(kind, by: current, rank.name, number(lock))) }
    }

    private func take(_ lock: UInt, _ rank: LockRank) {
      while holders[lock] != nil { wait(for: .lock(lock), rank.name) }
      holders[lock] = current
    }

    // MARK: Conditions

    /// In place of a wait for a condition: whether it was signalled, or nil for a thread that is no member.
    static func wait(
      _ condition: UnsafeMutablePointer<pthread_cond_t>,
      _ mutex: UnsafeMutablePointer<pthread_mutex_t>,
      _ rank: LockRank,
      nanoseconds: UInt64?
    ) -> Bool? {
      guard let schedule = mine else { return nil }
      let address = UInt(bitPattern: mutex)
      unsafe pthread_mutex_unlock(mutex)
      schedule.holders[address] = nil
      schedule.release(.lock(address))
      let wasSignalled = schedule.wait(
        for: .condition(UInt(bitPattern: condition)),
        rank.name,
        until: nanoseconds.map { schedule.time &+ $0 }
      )
      schedule.take(address, rank)
      unsafe pthread_mutex_lock(mutex)
      return wasSignalled
    }

    /// In place of a signal; false for a thread that is no member.
    @usableFromInline
    static func signal(_ condition: UnsafeMutablePointer<pthread_cond_t>, all: Bool) -> Bool {
      wake(.condition(UInt(bitPattern: condition)), UInt(bitPattern: condition), all ? "all" : "one", all: all)
    }

    private static func wake(_ obstacle: Obstacle, _ address: UInt, _ name: StaticString, all: Bool) -> Bool {
      guard let schedule = mine else { return false }
      schedule.point(ScheduleEvent(.signal, by: schedule.current, name, schedule.number(address)))
      if all {
        schedule.release(obstacle)
        return true
      }
      var waiting = MemberSet()
      for index in schedule.members.indices {
        if case .waiting(obstacle, _) = schedule.members[index].state { waiting.insert(index) }
      }
      guard !waiting.isEmpty else { return true }
      let usual = waiting.next(after: -1)
      var woken = usual
      if waiting.count > 1 {
        woken = schedule.plan.wake(waiting, step: schedule.trace.steps)
        if !waiting.contains(woken) { woken = usual }
        var event = ScheduleEvent(.signal, by: schedule.current, name, schedule.number(address))
        event.offer(waiting, step: schedule.trace.steps, chosen: woken, usual: usual)
        schedule.trace.append(event)
      }
      schedule.wake(woken)
      return true
    }

    // MARK: Turnstiles

    /// In place of sleeping on a word; false for a thread that is no member.
    static func wait(_ word: UnsafeMutableRawPointer, while value: UInt32) -> Bool {
      guard let schedule = mine else { return false }
      let address = UInt(bitPattern: word)
      schedule.point(ScheduleEvent(.wait, by: schedule.current, "a turnstile", schedule.number(address)))
      if unsafe esker_word_load(word) == value { schedule.wait(for: .turnstile(address), "a turnstile") }
      return true
    }

    static func wake(_ word: UnsafeMutableRawPointer, all: Bool) -> Bool {
      wake(.turnstile(UInt(bitPattern: word)), UInt(bitPattern: word), "a turnstile", all: all)
    }

    // MARK: Words that processes share

    /// In place of sleeping on a word of a file; false for a thread that is no member.
    static func wait(shared word: UnsafeMutableRawPointer, while value: UInt32, nanoseconds: UInt64) -> Bool {
      guard let schedule = mine else { return false }
      let place = unsafe place(of: word)
      schedule.point(ScheduleEvent(.wait, by: schedule.current, "a shared word", schedule.number(place)))
      if unsafe esker_word_load(word) == value {
        schedule.wait(for: .sharedWord(place), "a shared word", until: schedule.time &+ nanoseconds)
      }
      return true
    }

    static func wake(shared word: UnsafeMutableRawPointer) -> Bool {
      unsafe wake(.sharedWord(place(of: word)), place(of: word), "a shared word", all: true)
    }

    /// The same for all mappings of a file. Those who sleep on the word at that place of another file may wake, too: a wait may end without
    /// a change.
    private static func place(of word: UnsafeMutableRawPointer) -> UInt { UInt(bitPattern: word) & 0xFFF }

    // MARK: Atomics, calls, yields and time

    /// Before an atomic is read or changed.
    ///
    /// A loop over many gives choices at the first few, and then fewer and fewer: what is rare would be lost among thousands alike.
    @usableFromInline
    static func access(_ file: StaticString, _ line: UInt) {
      guard let schedule = unsafe active, schedule.alive > 1, Membership.current != nil else { return }
      let place = Place(member: schedule.current, line: line, file: unsafe UInt(bitPattern: file.utf8Start))
      let visits = schedule.visits[place, default: 0] + 1
      schedule.visits[place] = visits
      if visits > mostVisits, visits & (visits - 1) != 0, schedule.inARow < mostInARow {
        schedule.inARow += 1
      } else {
        schedule.point(ScheduleEvent(.access, by: schedule.current, file, line: line))
      }
    }

    /// Before a call on a file or directory, by a file system that a test wraps.
    public static func call(_ name: String, on path: String) {
      guard let schedule = mine else { return }
      schedule.point(ScheduleEvent(.call, by: schedule.current), text: "\(name) \(path)")
    }

    /// In place of sleeping or giving way: others go on first. False for a thread that is no member.
    static func giveWay(nanoseconds: UInt64 = 0) -> Bool {
      guard let schedule = mine else { return false }
      schedule.time += nanoseconds
      schedule.point(ScheduleEvent(.yield, by: schedule.current), givesWay: true)
      return true
    }

    /// The run's own time.
    static var now: UInt64? {
      guard let schedule = mine else { return nil }
      schedule.time += 1000
      return schedule.time
    }

    // MARK: Threads

    /// Before a thread is started by a member.
    static func willStart(_ name: String) -> Newcomer? {
      guard let schedule = mine else { return nil }
      let newcomer = Newcomer(index: schedule.members.count)
      precondition(newcomer.index < MemberSet.most, "a run has at most \(MemberSet.most) threads")
      schedule.members.append(Member(turn: newcomer.turn))
      schedule.alive += 1
      schedule.trace.append(ScheduleEvent(.begin, by: newcomer.index), name)
      schedule.newcomer = newcomer
      return newcomer
    }

    /// The one that the calling member is about to start.
    static var newcomer: Newcomer? { mine?.newcomer.take() }

    /// After it was started.
    static func didStart(_ newcomer: Newcomer?, _ handle: esker_thread) {
      guard let newcomer, let schedule = mine else { return }
      newcomer.arrival.await()
      schedule.members[newcomer.index].handle = handle
      schedule.point(ScheduleEvent(.start, by: schedule.current, "", UInt32(newcomer.index)))
    }

    /// The first thing that a member does.
    static func begin(_ newcomer: Newcomer?) {
      guard let newcomer else { return }
      Membership.enter(newcomer.index)
      newcomer.arrival.give()
      newcomer.turn.await()
      mine?.reap()
    }

    /// The last thing that it does.
    static func end() {
      mine?.leave()
    }

    /// Waits for the end of a member.
    static func join(_ newcomer: Newcomer) {
      guard let schedule = mine else { return }
      let member = newcomer.index
      while schedule.members[member].state != .ended { schedule.wait(for: .end(of: member), "the end of a thread") }
    }
  }
#endif
