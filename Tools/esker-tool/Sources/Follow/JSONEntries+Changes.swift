import Esker

extension JSONEntries {
  /// A change as a line of JSON, with the fields that an entry has in a dump.
  mutating func text(of change: LogChange, keyEncoding: ByteEncoding?) -> [UInt8] {
    writer.removeAll()
    writer.beginObject()
    writer.field("sequence", change.sequence.rawValue)
    writer.field("change", change.kind.word)
    writer.field("keyspace", change.keyspace)
    let pair = forms?[change.keyspace] ?? EntryForms.Pair()
    if change.kind != .removeAll { add(key: change.key, pair, keyEncoding) }
    if case .put(let value, let expiry) = change.kind {
      add(value: value, pair)
      writer.field("expires", expiry)
    }
    if change.batchContinues { writer.field("batchContinues", true) }
    writer.endObject()
    writer.newline()
    return writer.bytes
  }
}

extension LogChange.Kind {
  /// The command that makes such a change.
  var word: String {
    switch self {
    case .put: "put"
    case .remove: "delete"
    case .removeAll: "clear"
    }
  }
}
