#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The machine's clocks; a reading takes 20-40 ns.
///
/// Safety: each call fills a local.
@frozen
public struct OSClock: SystemClock {
  /// Creates a clock; it has no state.
  @inlinable
  public init() {}

  /// Reads `CLOCK_REALTIME`.
  @inlinable
  public func wallMilliseconds() -> Int64 {
    var now = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &now)
    return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
  }

  /// Reads `CLOCK_MONOTONIC`.
  @inlinable
  public func monotonicNanoseconds() -> UInt64 {
    var now = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &now)
    return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
  }

  /// Reads `CLOCK_MONOTONIC_COARSE`, or `CLOCK_MONOTONIC_RAW_APPROX` on Apple's systems: what the kernel noted at its last tick,
  /// which takes a sixth of the time.
  @inlinable
  public func coarseNanoseconds() -> UInt64 {
    #if canImport(Darwin)
      return clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW_APPROX)
    #else
      var now = timespec()
      unsafe clock_gettime(CLOCK_MONOTONIC_COARSE, &now)
      return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
    #endif
  }
}
