import Esker

extension JSONEntries {
  /// A line with the fields that the entry has in a dump, and how long its value is; without the value unless it is asked for.
  mutating func text(
    of entry: borrowing Snapshot.Entry,
    _ forms: EntryForms.Pair,
    keyEncoding: ByteEncoding?,
    withValue: Bool
  ) throws -> [UInt8] {
    let value = withValue ? try entry.value() : nil
    let keyspace = namesKeyspaces ? entry.keyspace : ""
    return text(of: try entry.key(), value, length: entry.valueLength, entry.expiry, forms, keyEncoding, in: keyspace)
  }

  /// The same of a key and its value.
  mutating func text(
    of key: [UInt8],
    _ value: [UInt8],
    _ expiry: Expiry,
    _ forms: EntryForms.Pair,
    keyEncoding: ByteEncoding?
  ) -> [UInt8] {
    text(of: key, value, length: value.count, expiry, forms, keyEncoding)
  }

  private mutating func text(
    of key: [UInt8],
    _ value: [UInt8]?,
    length: Int,
    _ expiry: Expiry,
    _ forms: EntryForms.Pair,
    _ keyEncoding: ByteEncoding?,
    in keyspace: String = ""
  ) -> [UInt8] {
    writer.removeAll()
    writer.beginObject()
    if !keyspace.isEmpty { writer.field("keyspace", keyspace) }
    add(key: key, forms, keyEncoding)
    if let value {
      value.lend(0..<value.count) { value in _ = add("value", value, forms.values, forms.valueName) }
    }
    writer.field("valueBytes", length)
    writer.field("expires", expiry)
    writer.endObject()
    writer.newline()
    return writer.bytes
  }
}
