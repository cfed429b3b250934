/// Reads the entries of a map.
struct KeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
  private let session: DecodingSession
  private let start: Int
  private let map: DocumentMap
  private let isIndefinite: Bool

  @inline(__always)
  init(session: DecodingSession, start: Int) throws {
    let head = try session.head(at: start)
    guard head.major == Major.map else { throw session.mismatch([String: Any].self, at: start) }
    do {
      self.map = DocumentMap(first: head.end, entries: try session.reader.items(head))
    } catch {
      throw session.decodingError(error)
    }
    self.session = session
    self.start = start
    self.isIndefinite = head.isIndefinite
    if map.entries == 0 {
      session.found(head.end + (isIndefinite ? 1 : 0), ofItemAt: start)
    } else if session.frame.cursor.map < 0 {
      session.frame.cursor = map.start
    }
  }

  var codingPath: [any CodingKey] { session.codingPath(to: start) }

  var allKeys: [Key] {
    let found = session.keys(of: map)
    var keys: [Key] = []
    keys.reserveCapacity(found.count)
    for key in found {
      let known = key.intValue.map { Key(intValue: $0) } ?? Key(stringValue: key.stringValue)
      if let known { keys.append(known) }
    }
    return keys
  }

  /// Where the value of `key` is, nil when there is none. The cursor is then at its entry.
  @inline(__always)
  private func find(_ key: Key) throws -> Int? {
    let cursor = session.frame.cursor
    if cursor.map == map.first, cursor.remaining > 0, let value = session.valueAtCursor(key.stringValue) {
      return value
    }
    return try session.find(key, in: map)
  }

  /// Reads the value of `key` and moves the cursor behind it.
  @inline(__always)
  private func value<T>(_ key: Key, _ read: (Int) throws -> T) throws -> T {
    guard let offset = try find(key) else { throw notFound(key) }
    notePlace(offset)
    let value = try read(offset)
    advance()
    return value
  }

  /// Reads the value of `key` unless it is missing or null.
  @inline(__always)
  private func optional<T>(_ key: Key, _ read: (Int) throws -> T) throws -> T? {
    guard let offset = try find(key) else { return nil }
    if try session.isNull(at: offset) {
      advance()
      return nil
    }
    notePlace(offset)
    let value = try read(offset)
    advance()
    return value
  }

  @inline(__always)
  private func notePlace(_ offset: Int) {
    session.place.start = offset
    session.place.component =
      session.frame.start == start ? session.frame.cursor.key : DecodingSession.Place.unknown
  }

  @inline(__always)
  private func advance() {
    session.frame.cursor.key = session.next
    session.frame.cursor.remaining -= 1
    if session.frame.cursor.remaining == 0 {
      session.found(session.next + (isIndefinite ? 1 : 0), ofItemAt: start)
    }
  }

  @inline(never)
  private func notFound(_ key: Key) -> DecodingError {
    .keyNotFound(
      key,
      .init(
        codingPath: codingPath,
        debugDescription:
          "There is no value for the key \"\(key.stringValue)\". (At byte \(start) of \(session.reader.count).)"
      )
    )
  }

  func contains(_ key: Key) -> Bool { (try? find(key)) != nil }

  func decodeNil(forKey key: Key) throws -> Bool {
    guard let offset = try find(key) else { throw notFound(key) }
    return try session.isNull(at: offset)
  }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try value(key) { try session.bool(at: $0) } }
  func decode(_ type: String.Type, forKey key: Key) throws -> String { try value(key) { try session.text(at: $0) } }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try value(key) { try session.double(at: $0) } }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try value(key) { try session.float(at: $0) } }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try value(key) { try session.integer(type, at: $0) } }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
    try value(key) { try session.integer(type, at: $0) }
  }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
    try value(key) { try session.integer(type, at: $0) }
  }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
    try value(key) { try session.integer(type, at: $0) }
  }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
    try value(key) { try session.integer(type, at: $0) }
  }
  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 {
    try value(key) { try session.integer(type, at: $0) }
  }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
    try value(key) { try session.integer(type, at: $0) }
  }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
    try value(key) { try session.integer(type, at: $0) }
  }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
    try value(key) { try session.integer(type, at: $0) }
  }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
    try value(key) { try session.integer(type, at: $0) }
  }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
    try value(key) { try session.integer(type, at: $0) }
  }
  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
    try value(key) { try session.integer(type, at: $0) }
  }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try value(key) { try session.decode(type, at: $0) }
  }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try optional(key) { try session.bool(at: $0) }
  }

  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try optional(key) { try session.text(at: $0) }
  }

  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try optional(key) { try session.double(at: $0) }
  }

  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try optional(key) { try session.integer(type, at: $0) }
  }

  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    try optional(key) { try session.decode(type, at: $0) }
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type,
    forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try decoder(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try decoder(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder {
    guard let offset = try session.find(DocumentKey.superclass, in: map) else {
      throw DecodingError.keyNotFound(
        DocumentKey.superclass,
        .init(codingPath: codingPath, debugDescription: "There is no value for the superclass. (At byte \(start).)")
      )
    }
    return ValueDecoder(session: session, start: offset)
  }

  func superDecoder(forKey key: Key) throws -> any Decoder {
    try decoder(key)
  }

  private func decoder(_ key: Key) throws -> ValueDecoder {
    guard let offset = try find(key) else { throw notFound(key) }
    return ValueDecoder(session: session, start: offset)
  }
}
