internal import Synchronization

/// When the first entry of a keyspace expires: never later than that, and possibly earlier, since an entry that was overwritten or
/// removed does not raise it.
///
/// As long as that instant has not come, all entries are alive, and counting them reads none. A walk over the entries
/// that finds none expired raises the bound to what it has seen.
///
/// Changed under the writer's lock only. A write without an expiry does not touch it. Relaxed: each atomic is a number by itself.
final class ExpiryBound: Sendable {
  private let bound = Atomic<Int64>(.max)
  /// The same of the entries written since the last walk began.
  private let recent = Atomic<Int64>(.max)
  /// The number of walks begun: only the last one may raise the bound.
  private let walks = Atomic<UInt64>(0)

  /// The store time at which the first entry expires, if not later; `Int64.max` if none ever does.
  var earliest: Int64 { bound.load(ordering: .relaxed) }

  /// Whether an entry may have expired.
  func mayHavePassed(at now: Int64) -> Bool { earliest <= now }

  /// Notes an entry that expires. Not inlined: a put without an expiry should carry none of it.
  @inline(never)
  func note(_ instant: Int64) {
    if instant < bound.load(ordering: .relaxed) { bound.store(instant, ordering: .relaxed) }
    if instant < recent.load(ordering: .relaxed) { recent.store(instant, ordering: .relaxed) }
  }

  /// Sets the bound of a keyspace whose entries have changed as a whole.
  func set(_ instant: Int64) {
    bound.store(instant, ordering: .relaxed)
    recent.store(instant, ordering: .relaxed)
  }

  /// Begins a walk over all entries; returns its number.
  func beginWalk() -> UInt64 {
    recent.store(.max, ordering: .relaxed)
    return walks.wrappingAdd(1, ordering: .relaxed).newValue
  }

  /// Ends a walk that found no expired entry, and the first to expire at `earliest`.
  func endWalk(_ number: UInt64, earliest: Int64) {
    guard walks.load(ordering: .relaxed) == number else { return }
    bound.store(min(earliest, recent.load(ordering: .relaxed)), ordering: .relaxed)
  }
}
