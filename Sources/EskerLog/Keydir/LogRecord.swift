internal import EskerFormat

/// A record of the log, as recovery reads it.
struct LogRecord {
  var hash: UInt64
  var address: UInt64
  var sequence: UInt64
  var size: Int
  var kind: RecordKind
  var keyspace: KeyspaceTag
  var batchContinues = false
}
