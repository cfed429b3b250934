extension Report {
  /// The state in which a store was found when it was opened, and what was needed to restore it. In a ``History``, also how a copy was
  /// made.
  public struct Opening: Sendable, Hashable {
    /// How a store was found, or made.
    public enum Kind: Sendable, Hashable {
      /// There was none, and it was created.
      case created
      /// The last writer had closed it.
      case clean
      /// The last writer had ended without closing it.
      case afterCrash
      /// Nobody opened it: a backup, or a restoration, made it as a copy of another directory.
      case copied
      /// Nobody opened it: a salvage made it from what was intact in another directory. The damage is what was lost there, in files
      /// that are named without that directory.
      case repaired
    }

    /// Where the index came from.
    public enum IndexSource: Sendable, Hashable {
      /// The store is new or empty.
      case empty
      /// The checkpoint of a clean close, unchanged.
      case checkpoint
      /// A checkpoint, and a replay of the log written since: after a crash, or after a close that wrote no new checkpoint
      /// because little had been logged behind the last one.
      case checkpointAndReplay
      /// All segments, read from the start.
      case segments
    }

    /// What was known of the last writer's syncs, unless the machine was restarted since.
    public enum LastSync: Sendable, Hashable {
      /// None was in progress when the writer ended, and none had failed.
      case complete
      /// The writer ended during a sync.
      case interrupted
      /// A sync of the writer had failed.
      case failed
    }

    /// How the store was found.
    public var kind: Kind
    /// When, by ``Options/clock``.
    public var time: WallTime
    /// Whether the opening is known to have come to its end. If not, it had begun to change the files when its process ended, or it threw,
    /// and the figures are those from before that. Always true of a store that is open.
    public var isComplete = false
    /// Where the index came from.
    public var indexSource = IndexSource.empty
    /// What was known of the last writer's syncs.
    public var lastSync = LastSync.complete
    /// The sequence number of the last write that is there.
    public var lastSequence = SequenceNumber(rawValue: 0)
    /// The number of records replayed from the log.
    public var replayedRecords = 0
    /// The number of records in the unsynced tail that were rewritten because a sync of them may have failed.
    public var rewrittenRecords = 0
    /// The number of keys in the store.
    public var keys = 0
    /// How long the opening took.
    public var duration = Duration.zero
    /// Where the log was cut at a hole that a crash had left; nil if it was not.
    public var cut: Cut?
    /// The damage that was met. A ``History`` has up to four places of it, without keys.
    public var damage: [Report.Verification.Damage] = []
    /// How much damage was met, however much of it is described.
    public var damageCount = 0

    init(kind: Kind, time: WallTime) {
      self.kind = kind
      self.time = time
    }

    /// True unless the last writer had ended without closing the store.
    public var wasClean: Bool { kind != .afterCrash }
  }

  /// Where a log was cut, and what was cut off: records that had never become durable.
  public struct Cut: Sendable, Hashable {
    /// The segment in which history ends.
    public var segment: UInt64
    /// Where in the segment.
    public var offset: Int
    /// The first sequence number that is lost.
    public var sequence: SequenceNumber
    /// How many sequence numbers are lost, as far as records behind the hole tell.
    public var records: Int
    /// The bytes from the hole on, up to the last record that could be read.
    public var bytes: Int
    /// How many segments behind it were removed.
    public var discardedSegments: Int

    package init(
      segment: UInt64,
      offset: Int,
      sequence: SequenceNumber,
      records: Int,
      bytes: Int,
      discardedSegments: Int
    ) {
      self.segment = segment
      self.offset = offset
      self.sequence = sequence
      self.records = records
      self.bytes = bytes
      self.discardedSegments = discardedSegments
    }
  }

  /// What the last openings of a store for writing have found; see ``LogStore/history``.
  public struct History: Sendable, Hashable {
    /// The openings, oldest first. Up to 32; those in which nothing went wrong make room first. An opening that wrote nothing may not be
    /// among them.
    public var openings: [Report.Opening]
    /// Whether what was there could not be read. Then there are none from before.
    public var isDamaged: Bool

    /// The history of a store of which nothing is recorded.
    public init() {
      openings = []
      isDamaged = false
    }
  }
}
