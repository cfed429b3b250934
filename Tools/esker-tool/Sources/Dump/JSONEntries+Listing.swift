import Esker

extension JSONEntries {
  /// A line with the fields that the entry has in a dump, and how long its value is; without the value unless it is asked for.
  mutating func line(
    _ entry: borrowing Snapshot.Entry,
    _ forms: EntryForms.Pair,
    _ keyEncoding: ByteEncoding?,
    withValue: Bool
  ) throws -> [UInt8] {
    let (key, value) = (try entry.key(), withValue ? try entry.value() : nil)
    return line(key, value, length: entry.valueLength, entry.expiry, forms, keyEncoding, in: entry.keyspace)
  }

  /// The same of a key and its value.
  mutating func line(
    _ key: [UInt8],
    _ value: [UInt8]?,
    length: Int,
    _ expiry: Expiry,
    _ forms: EntryForms.Pair,
    _ keyEncoding: ByteEncoding?,
    in keyspace: String = ""
  ) -> [UInt8] {
    writer.removeAll()
    writer.beginObject()
    if namesKeyspaces, !keyspace.isEmpty { writer.field("keyspace", keyspace) }
    add(key: key, forms, keyEncoding)
    if let value { add(value: value, forms) }
    writer.field("valueBytes", length)
    writer.field("expires", expiry)
    writer.endObject()
    writer.newline()
    return writer.bytes
  }
}
