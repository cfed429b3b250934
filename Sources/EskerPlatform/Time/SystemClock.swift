/// The two clocks of a machine.
public protocol SystemClock: Sendable {
  /// Milliseconds since 1970-01-01 UTC; may jump forwards or backwards.
  func wallMilliseconds() -> Int64

  /// Nanoseconds from an arbitrary start; never goes backwards during the process.
  func monotonicNanoseconds() -> UInt64
}
