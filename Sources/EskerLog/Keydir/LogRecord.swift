internal import EskerFormat

/// A record of the log, as recovery reads it.
struct LogRecord {
  var hash: UInt64
  var address: UInt64
  var sequence: UInt64
  var size: Int
  /// ``size``, unless the record is packed.
  var unpackedSize: Int
  var kind: RecordKind
  var keyspace: KeyspaceTag
  /// `Int64.max` for a record that never expires; `Int64.min` if it does, and only its footer was read, which does not say when.
  var expiry: Int64
  var batchContinues = false
}

extension LogRecord {
  /// The record with that header.
  init(_ header: RecordHeader, at offset: Int, of segment: Segment) {
    self.init(
      hash: header.keyHash,
      address: segment.startUnits + UInt64(offset >> 3),
      sequence: header.sequence,
      size: header.size,
      unpackedSize: header.size,
      kind: header.kind,
      keyspace: header.keyspace,
      expiry: header.expiry,
      batchContinues: header.batchContinues
    )
  }
}
