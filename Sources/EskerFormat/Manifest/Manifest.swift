/// What a store consists of: its identity, its segments, its keyspaces and where history stands.
///
/// There are two files with the same content; the newest intact one counts.
public struct Manifest: Hashable, Sendable {
  /// Whether the last writer closed the store.
  ///
  /// On disk: never renumber.
  @frozen
  public enum State: UInt32, Sendable, CaseIterable {
    /// It did.
    case clean = 0
    /// It has the store open, or died.
    case open = 1
  }

  /// No segment or checkpoint has a greater identifier.
  public static let greatestID = Limit.count

  /// Counts the edits.
  public var generation: UInt64 = 0
  /// The store's identity.
  public var storeID: StoreID
  /// The seed of its key hashes.
  public var seed: HashSeed
  /// Whether the last writer closed the store.
  public var state = State.open
  /// Everything up to here is on stable storage.
  public var durableSequence: UInt64 = 0
  /// The next record has at least this sequence number.
  public var nextSequence: UInt64 = 1
  /// Store time of the edit, in milliseconds.
  public var storeTime: Int64 = 0
  /// The identifier of the next segment.
  public var nextSegmentID: UInt64 = 1
  /// The identifier of the next checkpoint.
  public var nextCheckpointID: UInt64 = 1
  /// The identifier of the checkpoint to open with, 0 for none.
  public var checkpointID: UInt64 = 0
  /// The highest sequence number in a segment of the log that was merged away, 0 for none: what came after it is in the
  /// log still, all of it.
  public var mergedThrough: UInt64 = 0
  /// The segments.
  public var segments: [SegmentRow] = []
  /// The keyspaces, the default one only if there is something to say of it.
  public var keyspaces: [KeyspaceRow] = []

  /// The manifest of an empty store.
  public init(storeID: StoreID, seed: HashSeed) {
    self.storeID = storeID
    self.seed = seed
  }
}
