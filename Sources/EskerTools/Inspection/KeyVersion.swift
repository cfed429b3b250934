/// A record of one key that is on disk, and what it means for the key.
public struct KeyVersion: Sendable, Hashable {
  /// What a record means.
  public enum Standing: String, Sendable, Hashable, CaseIterable {
    /// The key has this value.
    case current
    /// The key has no value, because of this tombstone.
    case deletes
    /// The key had this value last, and it has expired.
    case expired
    /// A newer record of the key decides.
    case superseded
    /// The keyspace was emptied since.
    case emptied
    /// The record belongs to a batch whose end is not there, so it counts for nothing.
    case uncommitted
  }

  /// The record.
  public var record: RecordDescription
  /// What it means.
  public var standing: Standing
}
