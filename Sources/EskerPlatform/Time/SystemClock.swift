/// The two clocks of a machine.
public protocol SystemClock: Sendable {
  /// Milliseconds since 1970-01-01 UTC; may jump forwards or backwards.
  func wallMilliseconds() -> Int64

  /// Nanoseconds from an arbitrary start; never goes backwards during the process.
  func monotonicNanoseconds() -> UInt64

  /// The same within some milliseconds, for whoever asks often; it never goes backwards either, but the two may not be compared.
  func coarseNanoseconds() -> UInt64
}

extension SystemClock {
  /// The exact time.
  public func coarseNanoseconds() -> UInt64 { monotonicNanoseconds() }
}
