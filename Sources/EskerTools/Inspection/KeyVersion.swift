/// A record of a key on disk, and what it means for the key.
public struct KeyVersion: Sendable, Hashable {
  /// What a record means.
  public enum Standing: String, Sendable, Hashable, CaseIterable {
    /// The key has this value.
    case current
    /// The key has no value, because of this tombstone.
    case deletes
    /// This was the key's last value, and it has expired.
    case expired
    /// A newer record of the key decides.
    case superseded
    /// The keyspace has been emptied since.
    case emptied
    /// The record belongs to a batch without an end, so it has no effect.
    case uncommitted
  }

  /// The record.
  public var record: RecordDescription
  /// What the record means.
  public var standing: Standing
}
