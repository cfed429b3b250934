/// Writes the entries of a map.
struct KeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let map: MapWriting

  var codingPath: [any CodingKey] { map.withSession { session in session.codingPath } }

  @inline(__always)
  private func entry(_ key: Key, _ write: (EncodingSession) -> Void) throws {
    try map.withSession { session in
      try session.check(map.serial)
      session.write(key: key, map.spellings)
      write(session)
      session.frame.entries += 1
    }
  }

  func encodeNil(forKey key: Key) throws { try entry(key) { $0.writeNull() } }
  func encode(_ value: Bool, forKey key: Key) throws { try entry(key) { $0.write(value) } }
  func encode(_ value: String, forKey key: Key) throws { try entry(key) { $0.write(value) } }
  func encode(_ value: Double, forKey key: Key) throws { try entry(key) { $0.write(value) } }
  func encode(_ value: Float, forKey key: Key) throws { try entry(key) { $0.write(value) } }
  func encode(_ value: Int, forKey key: Key) throws { try entry(key) { $0.write(Int64(value)) } }
  func encode(_ value: Int8, forKey key: Key) throws { try entry(key) { $0.write(Int64(value)) } }
  func encode(_ value: Int16, forKey key: Key) throws { try entry(key) { $0.write(Int64(value)) } }
  func encode(_ value: Int32, forKey key: Key) throws { try entry(key) { $0.write(Int64(value)) } }
  func encode(_ value: Int64, forKey key: Key) throws { try entry(key) { $0.write(value) } }
  func encode(_ value: Int128, forKey key: Key) throws { try entry(key) { $0.write(value) } }
  func encode(_ value: UInt, forKey key: Key) throws { try entry(key) { $0.write(UInt64(value)) } }
  func encode(_ value: UInt8, forKey key: Key) throws { try entry(key) { $0.write(UInt64(value)) } }
  func encode(_ value: UInt16, forKey key: Key) throws { try entry(key) { $0.write(UInt64(value)) } }
  func encode(_ value: UInt32, forKey key: Key) throws { try entry(key) { $0.write(UInt64(value)) } }
  func encode(_ value: UInt64, forKey key: Key) throws { try entry(key) { $0.write(value) } }
  func encode(_ value: UInt128, forKey key: Key) throws { try entry(key) { $0.write(value) } }

  func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    try map.withSession { session in
      try session.check(map.serial)
      let start = session.output.count
      session.write(key: key, map.spellings)
      do {
        try session.encode(value, component: start)
      } catch {
        session.rewind(to: start)
        throw error
      }
      session.frame.entries += 1
    }
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type,
    forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    part(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    part(key).unkeyedContainer()
  }

  func superEncoder() -> any Encoder {
    part(DocumentKey.superclass)
  }

  func superEncoder(forKey key: Key) -> any Encoder {
    part(key)
  }

  private func part(_ key: some CodingKey) -> ValueEncoder {
    map.withSession { session in
      if session.frame.serial == map.serial {
        session.write(key: key)
        session.frame.entries += 1
      }
      return ValueEncoder(session: session.part(serial: map.serial, key: key), serial: 1)
    }
  }
}
