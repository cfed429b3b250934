/// The encoder passed to a value's `encode(to:)`, and its single-value container.
struct ValueEncoder: Encoder, SingleValueEncodingContainer {
  let session: EncodingSession
  let serial: UInt64

  var codingPath: [any CodingKey] { session.codingPath }
  var userInfo: [CodingUserInfoKey: Any] { session.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    session.open(.map, serial: serial)
    return session.container(keyedBy: type, serial: serial)
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    session.open(.array, serial: serial)
    return UnkeyedEncoding(session: session, serial: serial)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  @inline(__always)
  private func scalar(_ write: () -> Void) throws {
    try session.checkScalar(serial)
    write()
  }

  func encodeNil() throws { try scalar { session.writeNull() } }
  func encode(_ value: Bool) throws { try scalar { session.write(value) } }
  func encode(_ value: String) throws { try scalar { session.write(value) } }
  func encode(_ value: Double) throws { try scalar { session.write(value) } }
  func encode(_ value: Float) throws { try scalar { session.write(value) } }
  func encode(_ value: Int) throws { try scalar { session.write(Int64(value)) } }
  func encode(_ value: Int8) throws { try scalar { session.write(Int64(value)) } }
  func encode(_ value: Int16) throws { try scalar { session.write(Int64(value)) } }
  func encode(_ value: Int32) throws { try scalar { session.write(Int64(value)) } }
  func encode(_ value: Int64) throws { try scalar { session.write(value) } }
  func encode(_ value: Int128) throws { try scalar { session.write(value) } }
  func encode(_ value: UInt) throws { try scalar { session.write(UInt64(value)) } }
  func encode(_ value: UInt8) throws { try scalar { session.write(UInt64(value)) } }
  func encode(_ value: UInt16) throws { try scalar { session.write(UInt64(value)) } }
  func encode(_ value: UInt32) throws { try scalar { session.write(UInt64(value)) } }
  func encode(_ value: UInt64) throws { try scalar { session.write(value) } }
  func encode(_ value: UInt128) throws { try scalar { session.write(value) } }

  func encode<T: Encodable>(_ value: T) throws {
    try session.checkScalar(serial)
    do {
      try session.encode(value, component: EncodingSession.noComponent)
    } catch {
      session.frame.kind = .none
      throw error
    }
  }
}
