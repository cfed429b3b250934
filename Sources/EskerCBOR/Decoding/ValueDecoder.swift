/// The decoder passed to a value's `init(from:)`, and its single-value container.
struct ValueDecoder: Decoder, SingleValueDecodingContainer {
  let session: DecodingSession
  /// The offset of the value.
  let start: Int

  var codingPath: [any CodingKey] { session.codingPath(to: start) }
  var userInfo: [CodingUserInfoKey: Any] { session.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    try session.container(keyedBy: type, at: start)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try UnkeyedDecoding(session: session, start: start)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

  @inline(__always)
  private func scalar<T>(_ value: T) -> T {
    session.found(session.next, ofItemAt: start)
    return value
  }

  func decodeNil() -> Bool {
    guard let isNull = try? session.isNull(at: start) else { return false }
    if isNull { session.found(session.next, ofItemAt: start) }
    return isNull
  }

  func decode(_ type: Bool.Type) throws -> Bool { scalar(try session.bool(at: start)) }
  func decode(_ type: String.Type) throws -> String { scalar(try session.text(at: start)) }
  func decode(_ type: Double.Type) throws -> Double { scalar(try session.double(at: start)) }
  func decode(_ type: Float.Type) throws -> Float { scalar(try session.float(at: start)) }
  func decode(_ type: Int.Type) throws -> Int { scalar(try session.integer(type, at: start)) }
  func decode(_ type: Int8.Type) throws -> Int8 { scalar(try session.integer(type, at: start)) }
  func decode(_ type: Int16.Type) throws -> Int16 { scalar(try session.integer(type, at: start)) }
  func decode(_ type: Int32.Type) throws -> Int32 { scalar(try session.integer(type, at: start)) }
  func decode(_ type: Int64.Type) throws -> Int64 { scalar(try session.integer(type, at: start)) }
  func decode(_ type: Int128.Type) throws -> Int128 { scalar(try session.integer(type, at: start)) }
  func decode(_ type: UInt.Type) throws -> UInt { scalar(try session.integer(type, at: start)) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { scalar(try session.integer(type, at: start)) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { scalar(try session.integer(type, at: start)) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { scalar(try session.integer(type, at: start)) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { scalar(try session.integer(type, at: start)) }
  func decode(_ type: UInt128.Type) throws -> UInt128 { scalar(try session.integer(type, at: start)) }
  func decode<T: Decodable>(_ type: T.Type) throws -> T { scalar(try session.decode(type, at: start)) }
}
