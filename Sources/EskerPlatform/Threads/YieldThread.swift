#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

extension Platform {
  /// Lets other threads that are ready run first; returns at once when there are none.
  public static func yieldThread() {
    sched_yield()
  }
}
