#if SCHEDULES
  /// In place of the system's clock: for a member of a run, the time of that run.
  struct ScheduleClock {
    func monotonicNanoseconds() -> UInt64 { Schedule.now ?? OSClock().monotonicNanoseconds() }
  }
#endif
