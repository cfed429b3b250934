/// A store's contents: its identity, its settings, its segments, its keyspaces and the state of its history.
///
/// It is kept in two files; the newest intact one counts.
public struct Manifest: Hashable, Sendable {
  /// Whether the last writer closed the store.
  ///
  /// On disk: never renumber.
  @frozen
  public enum State: UInt32, Sendable, CaseIterable {
    /// The last writer closed the store.
    case clean = 0
    /// A writer has the store open, or crashed.
    case open = 1
  }

  /// The greatest identifier that a segment or checkpoint can have.
  public static let greatestID = FormatLimit.count

  /// Increases with each edit.
  public var generation: UInt64 = 0
  /// The store's identity.
  public var storeID: StoreID
  /// The seed of its key hashes.
  public var seed: HashSeed
  /// Whether the last writer closed the store.
  public var state = State.open
  /// Everything up to this sequence number is durable.
  public var durableSequence: UInt64 = 0
  /// A lower bound for the sequence number of the next record.
  public var nextSequence: UInt64 = 1
  /// Store time of the edit, in milliseconds.
  public var storeTime: Int64 = 0
  /// The identifier of the next segment.
  public var nextSegmentID: UInt64 = 1
  /// The identifier of the next checkpoint.
  public var nextCheckpointID: UInt64 = 1
  /// The identifier of the checkpoint to open with, 0 for none.
  public var checkpointID: UInt64 = 0
  /// The identifier of the next keyspace: one below it that is not listed was removed.
  public var nextKeyspaceID: UInt32 = 1
  /// The highest sequence number in any log segment that has been merged away, 0 for none: everything after it is still in
  /// the log.
  public var mergedThrough: UInt64 = 0
  /// What the store remembers of its options.
  public var settings = StoredSettings()
  /// The segments.
  public var segments: [SegmentRow] = []
  /// The keyspaces; the default one is listed only if there is something to record about it.
  public var keyspaces: [KeyspaceRow] = []
  /// What the last openings have found, oldest first.
  public var history: [OpeningRow] = []

  /// The same without the segments that have made room since this was written.
  ///
  /// Their files are removed in order, so with one that is gone, all before it are, even if a power failure has brought some back: what
  /// they hold may be older than what was in those that are gone.
  ///
  /// - Parameter isThere: Whether there is a file for a segment of that identifier. Asked of the last ones first.
  public func withoutEvicted<E: Error>(isThere: (UInt64) throws(E) -> Bool) throws(E) -> Manifest {
    var gone: Set<UInt64> = []
    for row in segments.filter({ $0.evictionPlace > 0 }).sorted(by: { $0.evictionPlace > $1.evictionPlace }) {
      if gone.isEmpty, try isThere(row.id) { continue }
      gone.insert(row.id)
    }
    guard !gone.isEmpty else { return self }
    var manifest = self
    manifest.segments.removeAll { gone.contains($0.id) }
    return manifest
  }

  /// The manifest of an empty store.
  public init(storeID: StoreID, seed: HashSeed) {
    self.storeID = storeID
    self.seed = seed
  }
}
