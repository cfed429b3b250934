extension RecordView {
  /// The record's fields in on-disk order. Nothing is verified.
  public var fields: [NamedField] {
    var list = FieldList()
    list.add("header checksum", 4, .hash(UInt64(headerChecksum)))
    list.add("body checksum", 4, .hash(UInt64(bodyChecksum)))
    list.add("sequence", 7, .number(sequence))
    list.add("kind and flags", 1, .word(kind?.words(flags) ?? "unknown kind \(UInt8(word >> 56 & 15))"))
    list.add("key hash", 8, .hash(keyHash))
    list.add("value length", 4, .number(UInt64(valueLength)))
    list.add("key length", 2, .number(UInt64(keyLength)))
    let lag = lengths >> 48
    list.add("durable lag", 2, lag == 65_535 ? .word("unknown") : .number(lag))
    if flags.contains(.expires) { list.add("expiry", 8, .instant(expiry)) }
    if flags.contains(.keyspace) {
      list.add("keyspace", 4, .number(UInt64(keyspace.id)))
      list.add("incarnation", 4, .number(UInt64(keyspace.incarnation)))
    }
    list.add("key", keyLength, .bytes)
    list.add("value", valueLength, .bytes)
    list.pad(to: size)
    return list.fields
  }
}
