internal import CEskerShims
internal import EskerPlatform

// Reading the clock costs a third of a get that hits the CPU caches, so one call in 128 is timed.
extension Engine {
  /// The current time in nanoseconds for a call that is timed; 0 for the others.
  @usableFromInline
  @inline(__always)
  func startOfSample() -> UInt64 { esker_is_sampled() ? sampleTime() : 0 }

  @inline(__always)
  func endGet(_ start: UInt64) {
    if start != 0 { end(start, isPut: false) }
  }

  /// Ends a put that has given its write its durability, and none that a condition has prevented.
  @usableFromInline
  @inline(__always)
  func endPut(_ start: UInt64) {
    if start != 0 { end(start, isPut: true) }
  }

  @inline(never)
  private func sampleTime() -> UInt64 { max(1, env.platform.clock.monotonicNanoseconds()) }

  @inline(never)
  private func end(_ start: UInt64, isPut: Bool) {
    let now = env.platform.clock.monotonicNanoseconds()
    (isPut ? env.puts : env.gets).record(nanoseconds: now &- start)
    if env.pages.isDue(afterCallOf: now &- start, endedAt: now) { keydir.reviewPages() }
  }
}
