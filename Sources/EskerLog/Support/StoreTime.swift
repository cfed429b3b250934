internal import Synchronization

/// The time that expiry follows, in milliseconds since 1970: that of the wall clock, but never going back.
///
/// Store time is the later of the wall clock and the last known store time plus the monotonic time since, so setting the
/// wall clock back does not revive expired values. The manifest keeps it while the store is closed. Thread safety: any
/// thread. Relaxed: each atomic is a number by itself, and nothing is read through it.
final class StoreTime: Sendable {
  private let clock: Options.Clock
  private let startNanoseconds: UInt64
  /// Store time minus the monotonic milliseconds since the start; never shrinks, except by `reset`.
  private let offset: Atomic<Int64>
  /// A jump in milliseconds that has not been reported yet.
  private let jump = Atomic<Int64>(0)

  /// How far the wall clock must get ahead of the monotonic clock between two readings to count as a jump.
  private static let jumpMilliseconds: Int64 = 60_000

  /// - Parameter baton: What the last process has left that wrote in turn. From before a restart of the machine, it says nothing.
  init(clock: Options.Clock, atLeast saved: Int64, leftIn baton: Baton? = nil) {
    self.clock = clock
    var milliseconds = saved
    if let baton, baton.uptime <= clock.uptimeNanoseconds() {
      milliseconds = max(milliseconds, Int64(bitPattern: baton.time))
    }
    let wall = clock.now().millisecondsSince1970
    startNanoseconds = clock.uptimeNanoseconds()
    offset = Atomic(min(Self.latest, max(milliseconds, wall)))
  }

  /// One less than the stored expiry of values that never expire.
  private static let latest = Int64.max - 1

  /// Since the start; 0 if the clock went back before it.
  private var elapsedMilliseconds: Int64 {
    let uptime = clock.uptimeNanoseconds()
    return uptime < startNanoseconds ? 0 : Int64(truncatingIfNeeded: (uptime - startNanoseconds) / 1_000_000)
  }

  var now: Int64 { min(Self.latest, unlimited) }

  private var unlimited: Int64 {
    // The wall clock first: a thread that is held up between the two readings would otherwise get ahead of it for good.
    let wall = clock.now().millisecondsSince1970
    let elapsed = elapsedMilliseconds
    let known = offset.load(ordering: .relaxed)
    let (candidate, overflow) = wall.subtractingReportingOverflow(elapsed)
    guard !overflow, candidate > known else { return known.addingClamped(elapsed) }
    let (before, after) = offset.max(candidate, ordering: .relaxed)
    let step = after.subtractingClamped(before)
    if step >= Self.jumpMilliseconds { jump.store(step, ordering: .relaxed) }
    return after.addingClamped(elapsed)
  }

  /// The jump of the wall clock since the last call; nil if there was none. Report it outside all locks.
  func takeJump() -> Duration? {
    guard jump.load(ordering: .relaxed) != 0 else { return nil }
    let step = jump.exchange(0, ordering: .relaxed)
    return step == 0 ? nil : .milliseconds(step)
  }

  /// Is not behind what another process has saved.
  func advance(to milliseconds: Int64) {
    offset.max(milliseconds.subtractingClamped(elapsedMilliseconds), ordering: .relaxed)
  }

  /// What another process needs to go on from this time.
  func describe(in baton: inout Baton) {
    baton.time = UInt64(bitPattern: now)
    baton.uptime = clock.uptimeNanoseconds()
  }

  /// Goes on from the time of the process that wrote last, which may have been reset. It has followed the same clock since.
  func adopt(_ baton: Baton) {
    let uptime = clock.uptimeNanoseconds()
    let passed = Int64(clamping: (uptime &- min(uptime, baton.uptime)) / 1_000_000)
    let present = Int64(bitPattern: baton.time).addingClamped(passed)
    offset.store(present.subtractingClamped(elapsedMilliseconds), ordering: .relaxed)
  }

  /// Accepts the wall clock's time even if it is earlier; returns what to `restore` if that does not last.
  func reset() -> Int64 {
    let wall = clock.now().millisecondsSince1970
    return offset.exchange(wall.subtractingClamped(elapsedMilliseconds), ordering: .relaxed)
  }

  /// Undoes a reset.
  func restore(_ before: Int64) {
    offset.max(before, ordering: .relaxed)
  }
}

extension Int64 {
  func addingClamped(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }

  func subtractingClamped(_ other: Int64) -> Int64 {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? (other > 0 ? .min : .max) : difference
  }
}
