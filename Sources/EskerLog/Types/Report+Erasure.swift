extension Report {
  /// What was erased.
  public struct Erasure: Sendable, Hashable {
    /// Whatever was dead when the write with this number had returned is gone from the files that the directory lists.
    public var through: SequenceNumber
    /// The merges that were needed.
    public var merged = Merge()
    /// Bytes of removed files that this process still reads from: of snapshots, their entries, and change feeds. They are on the device
    /// until these end. Other processes that read the store have such files too, until they refresh.
    public var pinnedBytes = 0
  }
}
