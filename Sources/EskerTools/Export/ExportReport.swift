public import EskerLog

/// What an export wrote.
public struct ExportReport: Sendable, Hashable {
  /// The last write the stream shows.
  public var sequence: SequenceNumber
  /// Entries in it.
  public var entries = 0
  /// Bytes of it.
  public var bytes = 0
}

/// What an import read.
public struct ImportReport: Sendable, Hashable {
  /// Entries that were stored.
  public var entries = 0
  /// Entries that had expired and were passed over.
  public var expired = 0
  /// Keyspaces the stream names, the default one included.
  public var keyspaces = 0
  /// Bytes of the stream.
  public var bytes = 0
}
