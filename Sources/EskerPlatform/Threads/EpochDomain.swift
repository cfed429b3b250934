import CEskerShims
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Proof that the calling thread is pinned; see ``EpochDomain/enter()``.
///
/// Safety: points at the thread's record. Records are never freed, only reused by later threads.
@frozen
@safe
public struct EpochPin {
  @usableFromInline let slot: UnsafeMutablePointer<esker_epoch_slot>

  @inlinable
  init(slot: UnsafeMutablePointer<esker_epoch_slot>) {
    unsafe self.slot = slot
  }

  /// Identifies the thread among all that are alive: the address of its record, a multiple of 128.
  @inlinable
  public var thread: UInt {
    #if SCHEDULES
      // The same in each run of a schedule, wherever the record is.
      if let member = Schedule.member { return UInt(member + 1) << 7 }
    #endif
    return unsafe UInt(bitPattern: slot)
  }
}

/// Keeps memory alive while a reader without a lock may be using it (epoch-based reclamation).
///
/// A reader pins its thread, follows pointers, and unpins. A writer first makes an object unreachable, then retires it; it
/// is freed once every pin that existed at that time is gone:
///
///     let pin = epochs.enter()
///     defer { epochs.exit(pin) }
///
/// A pin belongs to its thread: it must not live across an `await`, and it should be short, since nothing retired after it
/// began is freed before it ends. Pins nest. The epoch and the pins are shared by the whole process, but retired objects
/// belong to a domain, so each store waits only for readers and frees only its own.
///
/// How it works: a pin stores the global epoch in the thread's own record and then fences, so that either the fence of a
/// later scan sees the record, or the reader sees what was unlinked before that scan. Retiring raises the global epoch and
/// notes the old value; that epoch has passed once no record shows a value at or below it.
///
/// Safety: records are never freed, so the address of one stays valid. Only the record's own thread touches `depth`. The
/// epochs are only accessed as atomics: `Atomic<UInt64>` has the layout of `UInt64`.
public final class EpochDomain: Sendable {
  #if SCHEDULES
    private typealias OSClock = ScheduleClock
  #endif

  /// The domain for uses that need none of their own.
  public static let shared = EpochDomain()

  private struct Retired {
    var mark: UInt64
    var free: @Sendable () -> Void
  }

  // In the order of retirement, so marks ascend.
  private let retired = Guarded<[Retired]>([], .epochs)

  /// Creates a domain with nothing retired.
  public init() {}

  deinit {
    // Readers may still be using what was retired here, so wait rather than leak or free early.
    if retired.withLock({ !$0.isEmpty }) {
      awaitPins()
      collect()
    }
  }

  /// Pins the calling thread: nothing retired from now on is freed before ``exit(_:)``.
  ///
  /// Complexity: about two nanoseconds. Thread safety: any thread; the pin must end on the same one.
  @inlinable
  public func enter() -> EpochPin {
    let slot = unsafe esker_epoch_current()
    let depth = unsafe esker_epoch_depth(slot)
    if unsafe depth.pointee == 0 {
      // Acquiring: a thread that sees a new epoch must see what was unlinked before it began. Releasing: a scan that reads
      // this value instead of the zero before it must still happen after the previous pin's reads. The fence is the one in
      // "How it works": without it, the reads that follow could be performed before the store.
      unsafe EpochDomain.word(of: slot).pointee.store(
        EpochDomain.global().pointee.load(ordering: .acquiring),
        ordering: .releasing
      )
      atomicMemoryFence(ordering: .sequentiallyConsistent)
    }
    unsafe depth.pointee &+= 1
    return unsafe EpochPin(slot: slot)
  }

  /// Ends a pin that the calling thread took.
  @inlinable
  public func exit(_ pin: EpochPin) {
    let depth = unsafe esker_epoch_depth(pin.slot)
    unsafe depth.pointee &-= 1
    if unsafe depth.pointee == 0 {
      // Releasing: a scan that acquires the zero happens after all reads under the pin.
      unsafe EpochDomain.word(of: pin.slot).pointee.store(0, ordering: .releasing)
    }
  }

  /// Frees something once no current pin is left.
  ///
  /// It must already be unreachable for new readers. `free` runs on whichever thread calls ``collect()``. Thread safety: any
  /// thread, pinned or not.
  public func retire(_ free: @escaping @Sendable () -> Void) {
    retired.withLock { list in
      // Under the lock, so that marks ascend along the list.
      list.append(Retired(mark: mark(), free: free))
    }
  }

  /// Frees what no reader can hold any more, without waiting.
  ///
  /// Complexity: linear in the number of threads and of objects freed.
  public func collect() {
    let ready = retired.withLock { list -> [Retired] in
      if list.isEmpty { return [] }
      // Under the lock: anything that another thread retires during the scan was not marked before it.
      let horizon = EpochDomain.oldestPin()
      let count = list.firstIndex { $0.mark >= horizon } ?? list.count
      defer { list.removeFirst(count) }
      return Array(list[..<count])
    }
    for item in ready { item.free() }
  }

  /// Frees what is retired now, and waits for readers that may hold some of it, but no longer than that: one of them may be waiting
  /// for the caller, or for a lock that is held. Does not wait if the calling thread is pinned.
  public func collect(within nanoseconds: UInt64) {
    collect()
    guard !isPinned, let last = retired.withLock({ $0.last?.mark }) else { return }
    let start = OSClock().monotonicNanoseconds()
    Self.wait(for: last) { OSClock().monotonicNanoseconds() &- start < nanoseconds }
    collect()
  }

  /// How many retired objects are waiting to be freed.
  public var pendingCount: Int {
    retired.withLock { $0.count }
  }

  /// Starts a new epoch and returns the one that ended; see ``hasPassed(_:)``.
  public func mark() -> UInt64 {
    // In one total order with the fences of `enter` and of the scan.
    let mark = unsafe EpochDomain.global().pointee.wrappingAdd(1, ordering: .sequentiallyConsistent).oldValue
    return mark
  }

  /// True once every pin that existed when ``mark()`` returned `mark` is gone.
  ///
  /// Complexity: linear in the number of threads.
  public func hasPassed(_ mark: UInt64) -> Bool {
    EpochDomain.oldestPin() > mark
  }

  /// Waits until every pin that exists now is gone. Must not be called while pinned, or with a lock held that a pinned thread may
  /// wait for.
  ///
  /// - Parameter rank: That of the only lock that may be held: no pinned thread waits for it.
  public func synchronize(holding rank: LockRank? = nil) {
    LockRank.expectNoneHeld(but: rank)
    awaitPins()
  }

  private func awaitPins() {
    precondition(!isPinned, "a pinned thread would wait for itself")
    Self.wait(for: mark()) { true }
  }

  /// Waits until every pin that existed at a mark is gone, or until patience ends.
  private static func wait(for mark: UInt64, while isPatient: () -> Bool) {
    var rounds = 0
    while oldestPin() <= mark, isPatient() {
      rounds += 1
      #if SCHEDULES
        if Schedule.giveWay(nanoseconds: 50_000) { continue }
      #endif
      if rounds < 64 { sched_yield() } else { usleep(50) }
    }
  }

  /// Whether the calling thread is pinned.
  public var isPinned: Bool {
    unsafe esker_epoch_depth(esker_epoch_current()).pointee > 0
  }

  /// The oldest epoch in which a thread is pinned, `UInt64.max` when none is.
  private static func oldestPin() -> UInt64 {
    // The counterpart of the fence in `enter`.
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    var oldest = UInt64.max
    var next = unsafe esker_epoch_first()
    while let slot = unsafe next {
      let epoch = unsafe word(of: slot).pointee.load(ordering: .acquiring)
      if epoch != 0 && epoch < oldest { oldest = epoch }
      unsafe next = esker_epoch_next(slot)
    }
    return oldest
  }

  @inlinable
  static func word(of slot: UnsafeMutablePointer<esker_epoch_slot>) -> UnsafeMutablePointer<Atomic<UInt64>> {
    unsafe UnsafeMutableRawPointer(esker_epoch_value(slot)).assumingMemoryBound(to: Atomic<UInt64>.self)
  }

  @inlinable
  static func global() -> UnsafeMutablePointer<Atomic<UInt64>> {
    unsafe UnsafeMutableRawPointer(esker_epoch_global()).assumingMemoryBound(to: Atomic<UInt64>.self)
  }
}
