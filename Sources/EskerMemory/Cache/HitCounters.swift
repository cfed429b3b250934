import EskerPlatform
import Synchronization

/// Hits and misses, counted without one thread's count disturbing another's.
///
/// A stripe belongs to the first thread that comes to it, which counts there with plain loads and stores; others whom it falls to
/// add atomically beside. Threads are told apart by the record that their pins point at: it belongs to one thread at a time, and what
/// its last owner counted happened before the next one got it.
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
    // A pin is the address of a record of 128 bytes.
    let record = unsafe unsafeBitCast(pin, to: UInt.self)
    let stripe = unsafe stripes + Int(truncatingIfNeeded: record >> 7) & (Self.stripeCount - 1)
    if unsafe stripe.pointee.owner.load(ordering: .relaxed) == record {
      if hit {
        unsafe stripe.pointee.hits.store(
          stripe.pointee.hits.load(ordering: .relaxed) &+ 1,
          ordering: .relaxed
        )
      } else {
        unsafe stripe.pointee.misses.store(
          stripe.pointee.misses.load(ordering: .relaxed) &+ 1,
          ordering: .relaxed
        )
      }
    } else {
      unsafe countBeside(hit: hit, stripe, record)
    }
  }

  @usableFromInline
  func countBeside(hit: Bool, _ stripe: UnsafeMutablePointer<Stripe>, _ record: UInt) {
    // What comes first in a free stripe is counted beside as well; the owner's own counts start with the next.
    _ = unsafe stripe.pointee.owner.compareExchange(
      expected: 0,
      desired: record,
      ordering: .relaxed
    )
    if hit {
      unsafe stripe.pointee.othersHits.wrappingAdd(1, ordering: .relaxed)
    } else {
      unsafe stripe.pointee.othersMisses.wrappingAdd(1, ordering: .relaxed)
    }
  }

  /// All threads' hits and misses.
  var totals: (hits: Int, misses: Int) {
    var totals = (hits: 0, misses: 0)
    for index in 0..<Self.stripeCount {
      let stripe = unsafe stripes + index
      totals.hits += unsafe stripe.pointee.hits.load(ordering: .relaxed)
      totals.hits += unsafe stripe.pointee.othersHits.load(ordering: .relaxed)
      totals.misses += unsafe stripe.pointee.misses.load(ordering: .relaxed)
      totals.misses += unsafe stripe.pointee.othersMisses.load(ordering: .relaxed)
    }
    return totals
  }
}
