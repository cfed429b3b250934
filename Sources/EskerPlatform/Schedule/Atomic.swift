#if SCHEDULES
  /// In place of that of `Synchronization`: each access is a point of a searched schedule.
  @usableFromInline
  typealias Atomic<Value: ScheduledRepresentable> = ScheduledAtomic<Value>
#endif
