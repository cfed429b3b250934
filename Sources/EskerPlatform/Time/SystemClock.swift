/// The two clocks of a machine.
public protocol SystemClock: Sendable {
  /// Milliseconds since 1970-01-01 UTC; may jump either way.
  func wallMilliseconds() -> Int64

  /// Nanoseconds from an arbitrary start; never goes back while the process lives.
  func monotonicNanoseconds() -> UInt64
}
