import EskerPlatform
import Synchronization

/// Hits and misses, counted without one thread's count disturbing another's.
@usableFromInline
@safe
struct HitCounters: ~Copyable, @unchecked Sendable {
  /// Two cache lines, since adjacent-line prefetch would couple neighbours.
  @usableFromInline
  struct Stripe: ~Copyable {
    @usableFromInline let hits = Atomic<Int>(0)
    @usableFromInline let misses = Atomic<Int>(0)
    private let padding: (Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int) =
      (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
  }

  @usableFromInline static var stripeCount: Int { 16 }

  // Freed with the only owner.
  @usableFromInline let stripes: UnsafeMutablePointer<Stripe>

  init() {
    unsafe stripes = .allocate(capacity: Self.stripeCount)
    for stripe in 0..<Self.stripeCount { unsafe (stripes + stripe).initialize(to: Stripe()) }
  }

  deinit {
    unsafe stripes.deinitialize(count: Self.stripeCount)
    unsafe stripes.deallocate()
  }

  /// Counts one get of the thread that holds `pin`.
  @inlinable
  @inline(__always)
  func count(hit: Bool, _ pin: EpochPin) {
    // A pin is the address of its thread's own record of 128 bytes: what tells threads apart without a call.
    let stripe = Int(truncatingIfNeeded: unsafe unsafeBitCast(pin, to: UInt.self) >> 7) & (Self.stripeCount - 1)
    if hit {
      unsafe stripes[stripe].hits.add(1, ordering: .relaxed)
    } else {
      unsafe stripes[stripe].misses.add(1, ordering: .relaxed)
    }
  }

  /// All threads' hits and misses.
  var totals: (hits: Int, misses: Int) {
    var totals = (hits: 0, misses: 0)
    for stripe in 0..<Self.stripeCount {
      totals.hits += unsafe stripes[stripe].hits.load(ordering: .relaxed)
      totals.misses += unsafe stripes[stripe].misses.load(ordering: .relaxed)
    }
    return totals
  }
}
