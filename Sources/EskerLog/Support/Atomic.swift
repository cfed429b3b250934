#if SCHEDULES
  internal import EskerPlatform

  /// In place of that of `Synchronization`: each access is a point of a searched schedule.
  typealias Atomic<Value: ScheduledRepresentable> = ScheduledAtomic<Value>
#endif
