public import EskerLog

/// What an export wrote.
public struct ExportReport: Sendable, Hashable {
  /// The last write included in the stream.
  public var sequence: SequenceNumber
  /// The number of entries in the stream.
  public var entries = 0
  /// The length of the stream in bytes.
  public var bytes = 0
}

/// What an import read.
public struct ImportReport: Sendable, Hashable {
  /// The number of entries stored.
  public var entries = 0
  /// The number of entries skipped because they had expired.
  public var expired = 0
  /// The number of keyspaces in the stream, including the default one.
  public var keyspaces = 0
  /// The length of the stream in bytes.
  public var bytes = 0
}
