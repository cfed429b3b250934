/// Writes the elements of an array.
struct UnkeyedEncoding: UnkeyedEncodingContainer {
  let session: EncodingSession
  let serial: UInt64

  var codingPath: [any CodingKey] { session.codingPath }
  var count: Int { session.frame.serial == serial ? session.frame.entries : 0 }

  @inline(__always)
  private func element(_ write: () -> Void) throws {
    try session.check(serial)
    write()
    session.frame.entries += 1
  }

  func encodeNil() throws { try element { session.writeNull() } }
  func encode(_ value: Bool) throws { try element { session.write(value) } }
  func encode(_ value: String) throws { try element { session.write(value) } }
  func encode(_ value: Double) throws { try element { session.write(value) } }
  func encode(_ value: Float) throws { try element { session.write(value) } }
  func encode(_ value: Int) throws { try element { session.write(Int64(value)) } }
  func encode(_ value: Int8) throws { try element { session.write(Int64(value)) } }
  func encode(_ value: Int16) throws { try element { session.write(Int64(value)) } }
  func encode(_ value: Int32) throws { try element { session.write(Int64(value)) } }
  func encode(_ value: Int64) throws { try element { session.write(value) } }
  func encode(_ value: Int128) throws { try element { session.write(value) } }
  func encode(_ value: UInt) throws { try element { session.write(UInt64(value)) } }
  func encode(_ value: UInt8) throws { try element { session.write(UInt64(value)) } }
  func encode(_ value: UInt16) throws { try element { session.write(UInt64(value)) } }
  func encode(_ value: UInt32) throws { try element { session.write(UInt64(value)) } }
  func encode(_ value: UInt64) throws { try element { session.write(value) } }
  func encode(_ value: UInt128) throws { try element { session.write(value) } }

  func encode<T: Encodable>(_ value: T) throws {
    try session.check(serial)
    try session.encode(value, component: ~session.frame.entries)
    session.frame.entries += 1
  }

  func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type) -> KeyedEncodingContainer<NestedKey> {
    part().container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    part().unkeyedContainer()
  }

  func superEncoder() -> any Encoder {
    part()
  }

  private func part() -> ValueEncoder {
    let index = DocumentKey.index(count)
    if session.frame.serial == serial { session.frame.entries += 1 }
    return ValueEncoder(session: session.part(serial: serial, key: index), serial: 1)
  }
}
