/// Something that happened in a store, for logs and metrics. More cases may be added.
///
/// Events are delivered in order and one at a time, on a thread that calls the store or on one of the store's own
/// threads, without any of the store's locks held: a handler may read and write. It must return quickly, since calls and
/// background work may wait for it, and must not close the store.
@nonexhaustive
public enum StoreEvent: Sendable, Hashable {
  /// The store is open.
  case opened(Report.Opening)
  /// The log was cut at a hole that a crash had left: records from ``Report/Cut/sequence`` on had never become durable and are lost. A
  /// read-only store skips them, and leaves the files as they are.
  case cut(Report.Cut)
  /// Damage was found. Everything else stays readable.
  case damaged(StoreError.Location, reason: String)
  /// A segment takes no more records and is durable.
  case segmentSealed(id: UInt64, bytes: Int, records: Int)
  /// A merge of some segments begins.
  case mergeBegan(segments: [UInt64])
  /// A merge has ended: its segments have been replaced or, if the report counts none as removed, must wait until older
  /// ones have been.
  case mergeEnded(Report.Merge, duration: Duration)
  /// Whatever was dead when an erasure in the background began is gone from the store's files. ``Options/erasure`` is kept if this took no
  /// longer than half of its time.
  case erased(Report.Erasure, duration: Duration)
  /// A store with a capacity limit evicted live records to make room for others.
  case evicted(records: Int, bytes: Int)
  /// An index checkpoint is durable: the next opening starts from it.
  case checkpointWritten(sequence: SequenceNumber, bytes: Int)
  /// A sync failed. The store refuses writes until it is reopened.
  case syncFailed(errno: Int32)
  /// Background work failed and will be retried; nothing is lost. Only a `close` is not retried: it fails if no further
  /// thread can be started, and the store stays open and locked until the process ends.
  case backgroundFailure(operation: String, StoreError)
  /// The wall clock jumped ahead by this much, a minute or more, since it was last read, and expiry follows it. Reported
  /// by the next write that expires after a duration, or the next call that counts or removes expired entries.
  case clockJumped(forward: Duration)
  /// The store is closed.
  case closed
}

extension Report.Verification.Damage {
  /// What is told of it.
  var event: StoreEvent { .damaged(location, reason: reason) }
}
