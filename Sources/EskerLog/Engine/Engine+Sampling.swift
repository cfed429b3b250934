internal import CEskerShims
internal import EskerPlatform

// A reading of the clock costs a third of a get from the caches, so one call in 128 is timed.
extension Engine {
  /// Now, for a call that is timed; 0 for the others.
  @inline(__always)
  func startOfSample() -> UInt64 { esker_is_sampled() ? sampleTime() : 0 }

  /// Counts a get that was timed.
  @inline(__always)
  func endGet(_ start: UInt64) {
    if start != 0 { end(start, isPut: false) }
  }

  /// Counts a put that was timed.
  @inline(__always)
  func endPut(_ start: UInt64) {
    if start != 0 { end(start, isPut: true) }
  }

  @inline(never)
  private func sampleTime() -> UInt64 { max(1, env.platform.clock.monotonicNanoseconds()) }

  @inline(never)
  private func end(_ start: UInt64, isPut: Bool) {
    (isPut ? env.puts : env.gets).record(nanoseconds: env.platform.clock.monotonicNanoseconds() &- start)
  }
}
