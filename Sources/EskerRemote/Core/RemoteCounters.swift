internal import Synchronization

/// What the core has done. Counters: relaxed, and read one by one.
final class RemoteCounters: Sendable {
  let asked = Atomic<UInt64>(0)
  let same = Atomic<UInt64>(0)
  let changes = Atomic<UInt64>(0)
  let raises = Atomic<UInt64>(0)
  let kept = Atomic<UInt64>(0)
  let notKept = Atomic<UInt64>(0)
  let unknownOutcomes = Atomic<UInt64>(0)
  let rolledBack = Atomic<UInt64>(0)
  let productions = Atomic<UInt64>(0)
  let awaited = Atomic<UInt64>(0)
}

extension Atomic<UInt64> {
  /// Counts one or more.
  func count(_ number: Int = 1) { wrappingAdd(UInt64(number), ordering: .relaxed) }

  /// How many there were.
  var value: UInt64 { load(ordering: .relaxed) }
}
