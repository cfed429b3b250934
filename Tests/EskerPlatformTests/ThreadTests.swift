import EskerPlatform
import EskerTestSupport
import Synchronization
import Testing

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

@Suite struct ThreadTests {
  @Test func guardedCountsEveryIncrementOfEveryThread() throws {
    final class Shared: Sendable { let count = Guarded(0) }
    let shared = Shared()
    let threads = try (0..<4).map { index in
      try WorkerThread(name: "count \(index)") {
        for _ in 0..<2_000 {
          shared.count.withLock {
            // Time for another thread to come between, if the lock let it.
            let before = $0
            sched_yield()
            $0 = before + 1
          }
        }
      }
    }
    for thread in threads { thread.join() }
    let count = shared.count.withLock { $0 }
    #expect(count == 8_000)
  }

  @Test func guardedHoldsNonCopyableStateAndPassesTypedErrorsOn() {
    struct Resource: ~Copyable { var value = 1 }
    struct Refused: Error {}
    let guarded = Guarded(Resource())
    guarded.withLock { $0.value += 1 }
    let before = guarded.withLock { $0.value }
    #expect(before == 2)
    do throws(Refused) {
      try guarded.withLock { (state: inout sending Resource) throws(Refused) in
        state.value = 5
        throw Refused()
      }
      Issue.record("the error was lost")
    } catch {}
    let after = guarded.withLock { $0.value }
    #expect(after == 5, "the lock was given back")
  }

  @Test func tryLockFailsWhileAnotherThreadHoldsTheLock() throws {
    final class Shared: Sendable {
      let lock = Lock()
      let taken = Atomic<Bool>(true)
    }
    let shared = Shared()
    shared.lock.lock()
    try WorkerThread(name: "try") { shared.taken.store(shared.lock.tryLock(), ordering: .relaxed) }.join()
    let taken = shared.taken.load(ordering: .relaxed)
    #expect(!taken)
    shared.lock.unlock()
    let takenLater = shared.lock.tryLock()
    #expect(takenLater)
    shared.lock.unlock()
  }

  @Test func conditionWakesWaitersInTurnAndAll() throws {
    final class Shared: @unchecked Sendable {
      let lock = Lock()
      let changed = Condition()
      var ready = false
      var passed = 0
    }
    let shared = Shared()
    let threads = try (0..<3).map { index in
      try WorkerThread(name: "wait \(index)") {
        shared.lock.withLock {
          while !shared.ready { shared.changed.wait(shared.lock) }
          shared.passed += 1
        }
      }
    }
    shared.lock.withLock { shared.ready = true }
    shared.changed.broadcast()
    for thread in threads { thread.join() }
    let passed = shared.lock.withLock { shared.passed }
    #expect(passed == 3)
  }

  @Test func turnstileWakesOneAndAllAndMissesNoChange() throws {
    final class Shared: Sendable {
      let turnstile = Turnstile()
      let isOpen = Atomic<Bool>(false)
      let passed = Atomic<Int>(0)
    }
    for round in 0..<2 {
      let shared = Shared()
      let before = shared.turnstile.value
      shared.turnstile.advance()
      #expect(shared.turnstile.value != before)
      // The change came first, so this does not sleep.
      shared.turnstile.wait(while: before)
      let threads = try (0..<3).map { index in
        try WorkerThread(name: "wait \(index)") {
          while true {
            let value = shared.turnstile.value
            if shared.isOpen.load(ordering: .acquiring) { break }
            shared.turnstile.wait(while: value)
          }
          shared.passed.add(1, ordering: .relaxed)
          // One after the other in the second round: each wakes the next.
          if round == 1 { shared.turnstile.wakeOne() }
        }
      }
      // Long enough for all of them to sleep.
      for _ in 0..<20 { Platform.system.pause() }
      shared.isOpen.store(true, ordering: .releasing)
      shared.turnstile.advance()
      if round == 1 { shared.turnstile.wakeOne() } else { shared.turnstile.wakeAll() }
      for thread in threads { thread.join() }
      let passed = shared.passed.load(ordering: .relaxed)
      #expect(passed == 3)
    }
  }

  @Test func timedWaitEndsWithoutASignal() {
    let lock = Lock()
    let condition = Condition()
    let clock = OSClock()
    lock.lock()
    let start = clock.monotonicNanoseconds()
    var waits = 0
    // A wait may end early without reason, but not for ever.
    while condition.wait(lock, nanoseconds: 20_000_000), waits < 100 { waits += 1 }
    lock.unlock()
    #expect(waits < 100)
    #expect(clock.monotonicNanoseconds() - start >= 20_000_000)
  }

  @Test func joinWaitsForTheEndAndMayBeCalledTwice() throws {
    final class Shared: Sendable { let done = Atomic<Bool>(false) }
    let shared = Shared()
    let thread = try WorkerThread(name: "a name longer than fifteen bytes") {
      shared.done.store(true, ordering: .releasing)
    }
    thread.join()
    let done = shared.done.load(ordering: .acquiring)
    #expect(done)
    thread.join()
  }

  #if os(Linux)
    @Test func aThreadThatGivesWayIsNicerThanItsParentWhichStaysAsItIs() throws {
      final class Shared: Sendable { let nice = Atomic<Int>(0) }
      let shared = Shared()
      // The nice value belongs to the thread here; "self" is asked by each for itself.
      let before = getpriority(__priority_which_t(0), 0)
      try WorkerThread(name: "gives way", givesWay: true) {
        shared.nice.store(Int(getpriority(__priority_which_t(0), 0)), ordering: .relaxed)
      }.join()
      let nice = shared.nice.load(ordering: .relaxed)
      #expect(nice > Int(before) || before >= 10)
      #expect(getpriority(__priority_which_t(0), 0) == before)
    }
  #endif

  @Test func threadMayOutliveItsObject() throws {
    final class Shared: Sendable {
      let lock = Lock()
      let changed = Condition()
      let done = Atomic<Bool>(false)
    }
    let shared = Shared()
    shared.lock.lock()
    do {
      _ = try WorkerThread(name: "orphan") {
        shared.lock.withLock { shared.done.store(true, ordering: .relaxed) }
        shared.changed.signal()
      }
    }
    while !shared.done.load(ordering: .relaxed) { shared.changed.wait(shared.lock) }
    shared.lock.unlock()
  }

  /// Some systems note the time only a hundred times a second.
  @Test func theCoarseClockGoesOnToo() {
    let clock = OSClock()
    let exact = clock.monotonicNanoseconds()
    let first = clock.coarseNanoseconds()
    var last = first
    var isForwards = true
    while clock.monotonicNanoseconds() - exact < 50_000_000 {
      let now = clock.coarseNanoseconds()
      isForwards = isForwards && now >= last
      last = now
    }
    #expect(isForwards)
    #expect(clock.coarseNanoseconds() - first >= 10_000_000)
    let fake = FakeClock()
    #expect(fake.coarseNanoseconds() == fake.monotonicNanoseconds())
  }

  @Test func clocksRunForwards() {
    let clock = OSClock()
    #expect(clock.wallMilliseconds() > 1_600_000_000_000)
    var last = clock.monotonicNanoseconds()
    for _ in 0..<1000 {
      let now = clock.monotonicNanoseconds()
      #expect(now >= last)
      last = now
    }
    let fake = FakeClock()
    let (wall, monotonic) = (fake.wallMilliseconds(), fake.monotonicNanoseconds())
    fake.advance(milliseconds: 5)
    fake.setWall(milliseconds: wall - 1)
    #expect(fake.wallMilliseconds() == wall - 1)
    #expect(fake.monotonicNanoseconds() == monotonic + 5_000_000)
  }
}
