/// Reads the entries of a map.
struct KeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
  /// Codable copies this for each call, which is free because no reference is counted.
  private let lent: BorrowedObject<MapReading>
  /// The same map, unless something else keeps it alive as long as the container.
  private let owned: MapReading?

  init(_ map: MapReading, isOwner: Bool) {
    // Safety: the map stays alive, since the session keeps it with the container on its shelf, `HeldContainers` keeps it if
    // somebody still holds the container, and otherwise `owned` does.
    lent = unsafe BorrowedObject(map)
    owned = isOwner ? map : nil
  }

  @inline(__always)
  private func withMap<R>(_ body: (MapReading, DecodingSession) throws -> R) rethrows -> R {
    try lent.with { map in
      try map.withSession { session in try body(map, session) }
    }
  }

  var codingPath: [any CodingKey] { withMap { map, session in session.codingPath(to: map.start) } }

  var allKeys: [Key] {
    let found = withMap { map, session in session.keys(of: map.entries) }
    var keys: [Key] = []
    keys.reserveCapacity(found.count)
    for key in found {
      let known = key.intValue.map { Key(intValue: $0) } ?? Key(stringValue: key.stringValue)
      if let known { keys.append(known) }
    }
    return keys
  }

  /// The offset of the value for `key`, or nil if there is none. Moves the cursor to its entry.
  @inline(__always)
  private func find(_ key: Key, _ map: MapReading, _ session: DecodingSession) throws -> Int? {
    let cursor = session.frame.cursor
    if cursor.map == map.entries.first, cursor.remaining > 0, let value = session.valueAtCursor(key, map.spellings) {
      return value
    }
    return try session.find(key, in: map.entries)
  }

  /// Reads the value for `key` and moves the cursor past it.
  @inline(__always)
  private func value<T>(_ key: Key, _ read: (DecodingSession, Int) throws -> T) throws -> T {
    try withMap { map, session in
      guard let offset = try find(key, map, session) else { throw notFound(key) }
      notePlace(offset, map, session)
      let value = try read(session, offset)
      advance(map, session)
      return value
    }
  }

  /// Reads the value for `key` unless it is missing or null.
  @inline(__always)
  private func optional<T>(_ key: Key, _ read: (DecodingSession, Int) throws -> T) throws -> T? {
    try withMap { map, session in
      guard let offset = try find(key, map, session) else { return nil }
      if try session.isNull(at: offset) {
        advance(map, session)
        return nil
      }
      notePlace(offset, map, session)
      let value = try read(session, offset)
      advance(map, session)
      return value
    }
  }

  @inline(__always)
  private func integer<I: FixedWidthInteger>(_ type: I.Type, _ key: Key) throws -> I {
    try value(key) { try $0.integer(type, at: $1) }
  }

  @inline(__always)
  private func optional<I: FixedWidthInteger>(_ type: I.Type, _ key: Key) throws -> I? {
    try optional(key) { try $0.integer(type, at: $1) }
  }

  @inline(__always)
  private func notePlace(_ offset: Int, _ map: MapReading, _ session: DecodingSession) {
    session.place.start = offset
    session.place.component =
      session.frame.start == map.start ? session.frame.cursor.key : DecodingSession.Place.unknown
  }

  @inline(__always)
  private func advance(_ map: MapReading, _ session: DecodingSession) {
    session.frame.cursor.key = session.next
    session.frame.cursor.remaining -= 1
    if session.frame.cursor.remaining == 0 {
      session.found(session.next + (map.isIndefinite ? 1 : 0), ofItemAt: map.start)
    }
  }

  @inline(never)
  private func notFound(_ key: Key) -> DecodingError {
    withMap { map, session in
      .keyNotFound(
        key,
        .init(
          codingPath: codingPath,
          debugDescription:
            "There is no value for the key \"\(key.stringValue)\". (At byte \(map.start) of \(session.reader.count).)"
        )
      )
    }
  }

  func contains(_ key: Key) -> Bool { withMap { map, session in (try? find(key, map, session)) != nil } }

  func decodeNil(forKey key: Key) throws -> Bool {
    try withMap { map, session in
      guard let offset = try find(key, map, session) else { throw notFound(key) }
      return try session.isNull(at: offset)
    }
  }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try value(key) { try $0.bool(at: $1) } }
  func decode(_ type: String.Type, forKey key: Key) throws -> String { try value(key) { try $0.text(at: $1) } }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try value(key) { try $0.double(at: $1) } }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try value(key) { try $0.float(at: $1) } }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try integer(type, key) }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try integer(type, key) }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try integer(type, key) }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try integer(type, key) }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try integer(type, key) }
  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try integer(type, key) }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try integer(type, key) }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try integer(type, key) }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try integer(type, key) }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try integer(type, key) }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try integer(type, key) }
  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
    try value(key) { try $0.integer(type, at: $1) }
  }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try value(key) { try $0.decode(type, at: $1) }
  }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try optional(key) { try $0.bool(at: $1) }
  }

  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try optional(key) { try $0.text(at: $1) }
  }

  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try optional(key) { try $0.double(at: $1) }
  }

  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
    try optional(key) { try $0.float(at: $1) }
  }

  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try optional(type, key) }
  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try optional(type, key) }
  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try optional(type, key) }
  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try optional(type, key) }
  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try optional(type, key) }
  func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? { try optional(type, key) }
  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try optional(type, key) }
  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try optional(type, key) }
  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try optional(type, key) }
  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try optional(type, key) }
  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try optional(type, key) }
  func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? {
    try optional(key) { try $0.integer(type, at: $1) }
  }

  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    try optional(key) { try $0.decode(type, at: $1) }
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
    try withMap { map, session in
      guard let offset = try session.find(DocumentKey.superclass, in: map.entries) else {
        throw DecodingError.keyNotFound(
          DocumentKey.superclass,
          .init(
            codingPath: codingPath,
            debugDescription: "There is no value for the superclass. (At byte \(map.start).)"
          )
        )
      }
      return ValueDecoder(session: session, start: offset)
    }
  }

  func superDecoder(forKey key: Key) throws -> any Decoder {
    try decoder(key)
  }

  private func decoder(_ key: Key) throws -> ValueDecoder {
    try withMap { map, session in
      guard let offset = try find(key, map, session) else { throw notFound(key) }
      return ValueDecoder(session: session, start: offset)
    }
  }
}
