/// Something that happened in a store, for logs and metrics. More cases may come.
///
/// Events are delivered in order and one at a time, on a thread that calls the store or on one of the store's own, and while
/// none of the store's locks is held: a handler may read and write. It must return quickly, since calls and background work may
/// wait for it, and must not close the store.
@nonexhaustive
public enum StoreEvent: Sendable, Hashable {
  /// The store is open. Says how its state was found and what it took.
  case opened(OpeningReport)
  /// The log was cut at a hole a crash had left: records from `sequence` on had never become durable and are gone. A read-only
  /// store passes them over, and leaves the files as they are.
  case cut(segment: UInt64, offset: Int, sequence: SequenceNumber, discardedSegments: Int)
  /// Damage was found. What was not damaged is intact and is served.
  case damaged(DamageLocation, reason: String)
  /// A segment got its last record and is durable from here on.
  case segmentSealed(id: UInt64, bytes: Int, records: Int)
  /// A merge of some segments begins.
  case mergeBegan(segments: [UInt64])
  /// It has ended: the segments have given way to others, or, if nothing is reported removed, must wait until older ones do.
  case mergeEnded(MergeReport, duration: Duration)
  /// A store of limited capacity gave up records, live ones, to make room for others.
  case evicted(records: Int, bytes: Int)
  /// An index checkpoint is durable: the next opening starts from it.
  case checkpointWritten(sequence: SequenceNumber, bytes: Int)
  /// A sync failed. The store refuses writes until it is opened again.
  case syncFailed(errno: Int32)
  /// Work in the background failed and will be tried again; nothing is lost. Only a `close` is not tried again: it fails when
  /// there can be no further thread, and the store stays open and locked until the process ends.
  case backgroundFailure(operation: String, StoreError)
  /// The wall clock ran ahead by this much, a minute or more, since it was last looked at, and expiry follows it. Told by the
  /// next write that expires after a duration, or the next call that counts or removes expired entries.
  case clockJumped(forward: Duration)
  /// The store is closed and left clean.
  case closed
}

/// How a store's state was found when it was opened, and what it took to restore it.
public struct OpeningReport: Sendable, Hashable {
  /// Where the index came from.
  public enum IndexSource: Sendable, Hashable {
    /// The store is new or empty.
    case empty
    /// The checkpoint of a clean close, as it is.
    case checkpoint
    /// A checkpoint, and a replay of what was logged since.
    case checkpointAndReplay
    /// All segments, read from the start.
    case segments
  }

  /// True if the last writer closed the store.
  public var wasClean: Bool
  /// Where the index came from.
  public var indexSource: IndexSource
  /// Records that were read again from the log.
  public var replayedRecords: Int
  /// Records of the unsynced tail that were written anew because a sync may have failed under them.
  public var rewrittenRecords: Int
  /// Keys the store holds.
  public var keys: Int
  /// Time it took.
  public var duration: Duration
}
