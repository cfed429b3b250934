/// A write, as reported by ``LogStore/changes(since:keeping:includingUnsynced:)``.
public struct LogChange: Hashable, Sendable {
  /// What was written.
  public enum Kind: Hashable, Sendable {
    /// The key has this value until `expiry`, which is `.never` or `.at`.
    case put(value: [UInt8], expiry: Expiry)
    /// The key has no value.
    case remove
    /// The keyspace was emptied, or removed; the change has no key.
    case removeAll
  }

  /// The changes of one write, as reported by ``LogStore/Changes/batches``: those of a batch, or a single one.
  ///
  /// A batch of one change is logged as a single write is, and nothing tells them apart.
  public struct Batch: Hashable, Sendable {
    /// The number of the last change: pass it as the position from which to resume behind the batch.
    public let sequence: SequenceNumber
    /// The changes, in the order of the batch; never empty.
    public let changes: [LogChange]

    /// Creates a batch from its parts.
    public init(sequence: SequenceNumber, changes: [LogChange]) {
      self.sequence = sequence
      self.changes = changes
    }
  }

  /// The number of the write: pass it as the position from which to resume after this change.
  public let sequence: SequenceNumber
  /// The keyspace's name; empty for the default keyspace.
  public let keyspace: String
  /// The key.
  public let key: [UInt8]
  /// What was written.
  public let kind: Kind
  /// True if the next change belongs to the same batch.
  public let batchContinues: Bool

  /// Creates a change from its parts.
  public init(sequence: SequenceNumber, keyspace: String, key: [UInt8], kind: Kind, batchContinues: Bool = false) {
    self.sequence = sequence
    self.keyspace = keyspace
    self.key = key
    self.kind = kind
    self.batchContinues = batchContinues
  }
}
