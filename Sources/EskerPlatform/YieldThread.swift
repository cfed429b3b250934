#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

extension Platform {
  /// Lets other runnable threads go first; returns at once if there are none.
  public static func yieldThread() {
    #if SCHEDULES
      if Schedule.giveWay() { return }
    #endif
    sched_yield()
  }
}
