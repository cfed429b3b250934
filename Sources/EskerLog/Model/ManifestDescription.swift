package import EskerFormat

/// What a store's manifest says of the store as a whole.
public struct ManifestDescription: Sendable, Hashable {
  /// One of the two files that hold it.
  public struct Copy: Sendable, Hashable {
    /// The file's path.
    public var path: String
    /// How many edits the copy has seen; nil when it cannot be read.
    public var generation: UInt64?
    /// What is wrong with it; nil when it is whole.
    public var damage: String?
  }

  /// How many edits there were.
  public var generation: UInt64
  /// The store's identity: 32 hexadecimal digits.
  public var storeID: String
  /// True when a writer has the store open, or died.
  public var isOpen: Bool
  /// Everything up to this write is on stable storage.
  public var durableSequence: SequenceNumber
  /// The next write has at least this number.
  public var nextSequence: SequenceNumber
  /// The last write that stood in a segment of the log that was merged away; 0 for none.
  public var mergedThrough: SequenceNumber
  /// Store time of the last edit.
  public var time: WallTime
  /// The next segment's id.
  public var nextSegment: UInt64
  /// The id of the index checkpoint that an opening uses; nil for none.
  public var checkpoint: UInt64?
  /// The keyspaces, the default one first.
  public var keyspaces: [KeyspaceDescription]

  package init(_ manifest: Manifest) {
    generation = manifest.generation
    storeID = manifest.storeID.digits
    isOpen = manifest.state == .open
    durableSequence = SequenceNumber(rawValue: manifest.durableSequence)
    nextSequence = SequenceNumber(rawValue: manifest.nextSequence)
    mergedThrough = SequenceNumber(rawValue: manifest.mergedThrough)
    time = WallTime(millisecondsSince1970: manifest.storeTime)
    nextSegment = manifest.nextSegmentID
    checkpoint = manifest.checkpointID == 0 ? nil : manifest.checkpointID
    keyspaces = manifest.keyspaces.sorted { $0.id < $1.id }.map { KeyspaceDescription($0) }
    if keyspaces.first?.id != 0 { keyspaces.insert(KeyspaceDescription(KeyspaceRow(id: 0, name: "")), at: 0) }
  }
}

/// What a store's manifest says of a keyspace.
public struct KeyspaceDescription: Sendable, Hashable {
  /// The keyspace's number in records.
  public var id: UInt32
  /// Its name; empty for the default keyspace.
  public var name: String
  /// How often it has been emptied.
  public var incarnation: UInt32
  /// When its values expire if the write does not say; nil: as the store's options say.
  public var defaultExpiry: Duration?

  init(_ row: KeyspaceRow) {
    id = row.id
    name = row.name
    incarnation = row.incarnation
    defaultExpiry = row.defaultExpiry < 0 ? nil : .milliseconds(row.defaultExpiry)
  }
}
