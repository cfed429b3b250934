package import EskerFormat

extension Report {
  /// What a store's manifest says about the store as a whole.
  public struct Manifest: Sendable, Hashable {
    /// One of the two files that contain the manifest.
    public struct Copy: Sendable, Hashable {
      /// The file's path.
      public var path: String
      /// The number of edits up to this copy; nil if it cannot be read.
      public var generation: UInt64?
      /// What is wrong with the copy; nil if it is intact.
      public var damage: String?
    }

    /// The number of edits so far.
    public var generation: UInt64
    /// The store's identity: 32 hexadecimal digits.
    public var storeID: String
    /// True if a writer has the store open, or has ended without closing it.
    public var isOpen: Bool
    /// The write up to which everything is on stable storage.
    public var durableSequence: SequenceNumber
    /// The lowest number that the next write can get.
    public var nextSequence: SequenceNumber
    /// The last write in any segment of the log that has been merged away; 0 for none.
    public var mergedThrough: SequenceNumber
    /// The store time of the last edit.
    public var time: WallTime
    /// The id of the next segment.
    public var nextSegment: UInt64
    /// The id of the index checkpoint that the next opening uses; nil for none.
    public var checkpoint: UInt64?
    /// What the store remembers of its options.
    public var settings: Options.Settings
    /// The keyspaces, the default one first.
    public var keyspaces: [Report.Keyspace]

    package init(_ manifest: EskerFormat.Manifest) {
      generation = manifest.generation
      storeID = manifest.storeID.digits
      isOpen = manifest.state == .open
      durableSequence = SequenceNumber(rawValue: manifest.durableSequence)
      nextSequence = SequenceNumber(rawValue: manifest.nextSequence)
      mergedThrough = SequenceNumber(rawValue: manifest.mergedThrough)
      time = WallTime(millisecondsSince1970: manifest.storeTime)
      nextSegment = manifest.nextSegmentID
      checkpoint = manifest.checkpointID == 0 ? nil : manifest.checkpointID
      settings = Options.Settings(manifest.settings)
      keyspaces = manifest.keyspaces.sorted { $0.id < $1.id }.map { Report.Keyspace($0) }
      if keyspaces.first?.id != 0 { keyspaces.insert(Report.Keyspace(KeyspaceRow(id: 0, name: "")), at: 0) }
    }
  }
}

extension Report {
  /// What a store's manifest says about a keyspace.
  public struct Keyspace: Sendable, Hashable {
    /// The keyspace's number in records.
    public var id: UInt32
    /// Its name; empty for the default keyspace.
    public var name: String
    /// How often the keyspace has been emptied.
    public var incarnation: UInt32
    /// The expiry of values written without one; nil for the default in the store's options.
    public var defaultExpiry: Duration?
    /// The most bytes of records that it may take; nil for no limit.
    public var capacityBytes: Int?
    /// The most entries that it may have; nil for no limit.
    public var capacityEntries: Int?
    /// The form that keys have as bytes; nil if no typed view has recorded one.
    public var keyForm: String?
    /// The form that values have as bytes; nil if no typed view has recorded one.
    public var valueForm: String?

    init(_ row: KeyspaceRow) {
      id = row.id
      name = row.name
      incarnation = row.incarnation
      defaultExpiry = row.defaultExpiry < 0 ? nil : .milliseconds(row.defaultExpiry)
      (capacityBytes, capacityEntries) = row.budget.limits
      keyForm = row.forms.keys
      valueForm = row.forms.values
    }
  }
}
