/// The policy's state for one entry, in one word that a hit updates without a lock.
///
///     bits 0-1   second chances: how often the main queue's hand lets the entry pass
///     bits 2-3   uses, counted up to 2 and halved each period
///     bits 4-6   the period in which they were counted, modulo 8
///     bit  7     set in the main queue
///     bits 8-31  the number of the arrival in the small queue, modulo 2^24
@frozen
@usableFromInline
struct AccessState {
  @usableFromInline var bits: UInt32

  @inlinable
  init(bits: UInt32) {
    self.bits = bits
  }

  /// The access state of a new entry.
  @inlinable
  init(uses: UInt32, period: UInt32, inMain: Bool, arrival: UInt32) {
    bits = uses << 2 | (period & 7) << 4 | (inMain ? 0x80 : 0) | arrival << 8
  }

  @inlinable var chances: UInt32 { bits & 3 }

  @inlinable var isInMain: Bool { bits & 0x80 != 0 }

  /// The number of entries that entered the small queue after this one.
  @inlinable
  @inline(__always)
  func arrivalsSince(_ arrivals: UInt32) -> UInt32 {
    (arrivals &- bits >> 8) & 0xFF_FFFF
  }

  /// The number of uses, as counted in `period`.
  @inlinable
  @inline(__always)
  func uses(in period: UInt32) -> UInt32 {
    switch (period &- bits >> 4) & 7 {
    case 0: bits >> 2 & 3
    case 1: bits >> 3 & 1
    default: 0
    }
  }

  /// The access state after one more use in `period`.
  @inlinable
  @inline(__always)
  func used(in period: UInt32) -> AccessState {
    let uses = min(2, uses(in: period) + 1)
    return AccessState(bits: bits & ~0x7F | min(3, chances + 1) | uses << 2 | (period & 7) << 4)
  }

  /// The access state after the hand passed over the entry.
  @inlinable var passed: AccessState { AccessState(bits: bits - 1) }

  /// The access state after the move from the small queue to the main one.
  @inlinable var promoted: AccessState { AccessState(bits: bits & ~3 | 0x80) }
}
