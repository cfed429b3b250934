#if SCHEDULES
  import CEskerShims

  #if canImport(Darwin)
    import Darwin
  #elseif canImport(Musl)
    import Musl
  #else
    import Glibc
  #endif

  /// One run of some threads of which only one goes on at a time: which one is decided wherever threads meet.
  ///
  /// The members of a run are the thread that calls ``run(_:_:_:)`` and all that members start. At each *point* (a lock, a signal, an
  /// access to an atomic) the member that got there asks who goes on, lets that one go and waits for its own turn. What a member waits
  /// for is known, so a deadlock is told, and a timed wait ends when nothing else can happen, or earlier if it was decided. Threads
  /// that are no members go through the same code and meet none of this.
  ///
  /// A process has one run in its life: what a run leaves behind, such as the records of pins, would change the next one.
  ///
  /// Safety: threads may share it, since only the member whose turn it is touches it.
  public final class Schedule: @unchecked Sendable {
    /// What a member waits for.
    enum Obstacle: Equatable {
      case lock(UInt)
      case condition(UInt)
      case turnstile(UInt)
      /// By its place in a page, as each process has its own mapping of the file.
      case sharedWord(UInt)
      case end(of: Int)
      case othersEnd
    }

    enum State: Equatable {
      case ready
      case waiting(Obstacle, until: UInt64?)
      case ended
    }

    struct Member {
      let turn: Turn
      var state = State.ready
      var handle: esker_thread?
      /// What it waits for, as the story has it.
      var obstacle: StaticString = ""
      var wasSignalled = false
    }

    /// Where a member accesses an atomic.
    struct Place: Hashable {
      let member: Int
      let line: UInt
      let file: UInt
    }

    /// As many points a run may have before it is taken to have no end.
    static let mostPoints = 400_000
    /// As many points in a row one member may have while others could go on: it may be spinning until one of them does.
    static let mostInARow = 5_000
    /// How often an access in one place gives a choice; then the next one to do so has twice the number of the last.
    static let mostVisits = 16

    // Safety: set once, before there is a second member.
    nonisolated(unsafe) private(set) static var active: Schedule?

    let trace: ScheduleTrace
    var plan: SchedulePlan
    var members: [Member] = []
    var current = 0
    var alive = 1
    var inARow = 0
    var visits: [Place: Int] = [:]
    /// Who holds which lock.
    var holders: [UInt: Int] = [:]
    /// Objects in the order in which they were met.
    var numbers: [UInt: UInt32] = [:]
    /// Nanoseconds of a clock that goes on by a microsecond whenever somebody looks at it.
    var time: UInt64 = 1_000_000_000
    /// A member whose thread is about to be started.
    var newcomer: Newcomer?
    /// A thread that has ended, but for what the system does: whoever comes next waits for it.
    var ended: esker_thread?
    /// Who goes on wherever it can.
    var hurried: Int?

    private init(_ plan: SchedulePlan, _ trace: ScheduleTrace) {
      self.plan = plan
      self.trace = trace
    }

    /// Runs `body` and all threads that it starts by a plan, until the last of them has ended.
    public static func run(_ plan: SchedulePlan, _ trace: ScheduleTrace, _ body: () -> Void) {
      precondition(unsafe active == nil, "a process has one run")
      let schedule = Schedule(plan, trace)
      schedule.members.append(Member(turn: Turn()))
      unsafe active = schedule
      Membership.enter(0)
      body()
      while schedule.alive > 1 { schedule.wait(for: .othersEnd, "the end of all threads") }
      Membership.leave()
    }

    /// The run that the calling thread is a member of.
    @inline(__always)
    static var mine: Schedule? {
      guard let schedule = unsafe active, Membership.current != nil else { return nil }
      return schedule
    }

    /// The calling thread's number in the run, if it is a member.
    @usableFromInline
    static var member: Int? { Membership.current }

    /// Says in the story what the calling thread is about to do.
    public static func note(_ text: String) {
      guard let schedule = mine else { return }
      schedule.trace.append(ScheduleEvent(.note, by: schedule.current), text)
    }

    /// Runs a body beside which nobody goes on, but for whoever holds a lock that it waits for, until that is released.
    ///
    /// For calls in which Swift's runtime holds locks of its own, as a cancellation does: a run knows nothing of these, so a member that
    /// waited for one would keep all of them waiting.
    public static func hurry(_ body: () -> Void) {
      guard let schedule = mine else { return body() }
      schedule.hurried = schedule.current
      body()
      schedule.hurried = nil
    }

    /// A number that grows with each point, to tell which of two calls came first.
    public static var moment: Int { mine.map { $0.trace.points } ?? 0 }

    /// Ends the process: what must hold does not.
    public static func fail(_ reason: String) -> Never {
      unsafe active?.trace.fail(reason)
      _exit(1)
    }

    // MARK: Turns

    /// A point of the member whose turn it is: another may go on first.
    func point(_ event: ScheduleEvent, text: String? = nil, givesWay: Bool = false) {
      guard alive > 1 else { return }
      choose(event, text: text, givesWay: givesWay)
    }

    /// Waits until somebody has made the member ready again; false if its time was over.
    @discardableResult
    func wait(for obstacle: Obstacle, _ name: StaticString, until deadline: UInt64? = nil) -> Bool {
      let me = current
      members[me].state = .waiting(obstacle, until: deadline)
      members[me].obstacle = name
      members[me].wasSignalled = false
      choose(ScheduleEvent(.wait, by: me, name, number(obstacle)))
      return members[me].wasSignalled
    }

    /// Lets those who wait for something go on, when they have their turn.
    func release(_ obstacle: Obstacle) {
      for index in members.indices {
        if case .waiting(obstacle, _) = members[index].state { wake(index) }
      }
    }

    func wake(_ index: Int) {
      members[index].state = .ready
      members[index].wasSignalled = true
    }

    /// Decides who goes on, and returns when the calling member has its turn.
    private func choose(_ event: ScheduleEvent, text: String? = nil, givesWay: Bool = false) {
      let me = current
      let givesWay = givesWay || inARow >= Self.mostInARow
      let next = decide(event, text: text, givesWay: givesWay)
      inARow = next == me && !givesWay ? inARow + 1 : 0
      if next != me {
        current = next
        let turn = members[me].turn
        members[next].turn.give()
        turn.await()
        reap()
      }
    }

    /// The last thing that a member does.
    func leave() {
      let me = current
      members[me].state = .ended
      alive -= 1
      release(.end(of: me))
      release(.othersEnd)
      ended = members[me].handle
      let next = decide(ScheduleEvent(.end, by: me), givesWay: false)
      inARow = 0
      current = next
      members[next].turn.give()
    }

    /// Waits for a thread that has ended to be gone, so that two never run side by side.
    func reap() {
      if let handle = ended.take() { _ = esker_thread_join(handle) }
    }

    private func decide(_ event: ScheduleEvent, text: String? = nil, givesWay: Bool) -> Int {
      let me = current
      var ready = MemberSet()
      var timed = MemberSet()
      for index in members.indices {
        switch members[index].state {
        case .ready: ready.insert(index)
        case .waiting(_, until: .some): timed.insert(index)
        default: break
        }
      }
      if ready.isEmpty {
        func deadline(_ index: Int) -> UInt64 {
          if case .waiting(_, until: let deadline?) = members[index].state { deadline } else { .max }
        }
        guard let first = timed.min(by: { deadline($0) < deadline($1) }) else { deadlock(event) }
        expire(first)
        ready.insert(first)
        timed.remove(first)
      }
      let usual = ready.contains(me) && (!givesWay || ready.count == 1) ? me : ready.next(after: me)
      var event = event
      var chosen = usual
      let options = ready.union(timed)
      if let next = nextInHurry(ready) {
        chosen = next
      } else if options.count > 1 {
        chosen = plan.choose(
          Choice(step: trace.steps, current: me, ready: ready, timed: timed, usual: usual, givesWay: givesWay)
        )
        if !options.contains(chosen) { chosen = usual }
        event.offer(options, step: trace.steps, chosen: chosen, usual: usual)
      }
      trace.append(event, text)
      if trace.points > Self.mostPoints { Self.fail("no end after \(trace.points) points") }
      if timed.contains(chosen) { expire(chosen) }
      return chosen
    }

    /// Who goes on if one is in a hurry: that one, or whoever holds the lock that it waits for.
    private func nextInHurry(_ ready: MemberSet) -> Int? {
      guard let hurried else { return nil }
      if ready.contains(hurried) { return hurried }
      guard case .waiting(.lock(let lock), _) = members[hurried].state, let holder = holders[lock] else { return nil }
      return ready.contains(holder) ? holder : nil
    }

    private func expire(_ index: Int) {
      if case .waiting(_, until: let deadline?) = members[index].state { time = max(time, deadline) }
      members[index].state = .ready
      members[index].wasSignalled = false
    }

    private func deadlock(_ event: ScheduleEvent) -> Never {
      trace.append(event)
      let waiting = members.indices.compactMap { index -> String? in
        guard case .waiting = members[index].state else { return nil }
        return "thread \(index) waits for \(members[index].obstacle)"
      }
      trace.fail("deadlock: " + waiting.joined(separator: ", "))
      _exit(1)
    }

    // MARK: Names

    func number(_ address: UInt) -> UInt32 {
      if let number = numbers[address] { return number }
      let number = UInt32(numbers.count)
      numbers[address] = number
      return number
    }

    private func number(_ obstacle: Obstacle) -> UInt32 {
      switch obstacle {
      case .lock(let address), .condition(let address), .turnstile(let address): number(address)
      case .sharedWord(let place): number(place)
      case .end(of: let index): UInt32(index)
      case .othersEnd: 0
      }
    }
  }
#endif
