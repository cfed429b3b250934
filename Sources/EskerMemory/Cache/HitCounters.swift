import EskerPlatform
import Synchronization

/// Counts hits and misses without contention between threads.
///
/// A stripe belongs to the first thread that uses it, which counts there with plain loads and stores; other threads mapped
/// to it use atomic additions on separate counters. Threads are identified by the record that their pins point at: it
/// belongs to one thread at a time, and what its last owner counted happened before the next one got it. Counters: relaxed.
///
/// Safety: threads may share it, since a stripe is all atomics. The stripes live as long as this value, and a stripe's
/// number is taken modulo their count.
@usableFromInline
@safe
struct HitCounters: ~Copyable, @unchecked Sendable {
  /// Two cache lines, since adjacent-line prefetch would couple neighbours.
  @usableFromInline
  struct Stripe: ~Copyable {
    @usableFromInline let owner = Atomic<UInt>(0)
    @usableFromInline let hits = Atomic<Int>(0)
    @usableFromInline let misses = Atomic<Int>(0)
    @usableFromInline let othersHits = Atomic<Int>(0)
    @usableFromInline let othersMisses = Atomic<Int>(0)
    private let padding: (Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int) = (
      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
    )
  }

  @usableFromInline static var stripeCount: Int { 16 }

  @usableFromInline let stripes: UnsafeMutablePointer<Stripe>

  init() {
    unsafe stripes = .allocate(capacity: Self.stripeCount)
    for stripe in 0..<Self.stripeCount { unsafe (stripes + stripe).initialize(to: Stripe()) }
  }

  deinit {
    unsafe stripes.deinitialize(count: Self.stripeCount)
    unsafe stripes.deallocate()
  }

  @inlinable
  subscript(number: Int) -> Stripe {
    @inline(__always) _read { yield unsafe stripes[number & (Self.stripeCount - 1)] }
  }

  /// Counts one get by the thread that holds `pin`.
  @inlinable
  @inline(__always)
  func count(hit: Bool, _ pin: EpochPin) {
    let thread = pin.thread
    let stripe = Int(truncatingIfNeeded: thread >> 7)
    if self[stripe].owner.load(ordering: .relaxed) == thread {
      if hit {
        self[stripe].hits.store(self[stripe].hits.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
      } else {
        self[stripe].misses.store(self[stripe].misses.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
      }
    } else {
      countBeside(hit: hit, stripe, thread)
    }
  }

  @usableFromInline
  func countBeside(hit: Bool, _ stripe: Int, _ thread: UInt) {
    // The first count in a free stripe goes to the shared counters too; the owner's own counts start with the next one.
    _ = self[stripe].owner.compareExchange(expected: 0, desired: thread, ordering: .relaxed)
    if hit {
      self[stripe].othersHits.wrappingAdd(1, ordering: .relaxed)
    } else {
      self[stripe].othersMisses.wrappingAdd(1, ordering: .relaxed)
    }
  }

  /// The hits and misses of all threads.
  var totals: (hits: Int, misses: Int) {
    var totals = (hits: 0, misses: 0)
    for stripe in 0..<Self.stripeCount {
      totals.hits += self[stripe].hits.load(ordering: .relaxed) + self[stripe].othersHits.load(ordering: .relaxed)
      totals.misses += self[stripe].misses.load(ordering: .relaxed) + self[stripe].othersMisses.load(ordering: .relaxed)
    }
    return totals
  }
}
