// What the collections of the standard library read.

extension CBORReader {
  @usableFromInline
  mutating func readBytes() throws -> [UInt8] {
    try withSession { try $0.byteArray(at: $0.next) }
  }

  @usableFromInline
  mutating func readIntegers() throws -> [Int] {
    try withSession { try $0.integers(at: $0.next) }
  }

  @usableFromInline
  mutating func readThroughCodable<T: Decodable>() throws -> T {
    try withSession { try $0.decodeThroughCodable(T.self, at: $0.next) }
  }

  /// Throws unless the list consists of pairs.
  @usableFromInline
  func checkPairs(in list: borrowing List) throws {
    guard list.count % 2 != 0 else { return }
    throw withSession { session in
      DecodingError.dataCorrupted(
        .init(
          codingPath: session.codingPath(to: list.start),
          debugDescription: "Expected collection of key-value pairs; encountered odd-length array instead."
        )
      )
    }
  }

  /// The next key that a dictionary can have, after which its value is read; nil at the end of the map.
  private func nextKey(in map: inout Map) throws -> DocumentKey? {
    try withSession { session in
      do {
        while map.cursor.remaining > 0 {
          let key = try session.reader.key(at: map.cursor.key)
          session.next = try session.reader.skip(map.cursor.key)
          if let key { return key }
          map.advance(to: try session.reader.skip(session.next))
        }
        return nil
      } catch {
        throw session.decodingError(error)
      }
    }
  }

  /// The next key as a text.
  @usableFromInline
  mutating func nextText(in map: inout Map) throws -> String? {
    try nextKey(in: &map)?.stringValue
  }

  /// The next key as an integer, which a text may spell.
  @usableFromInline
  mutating func nextInteger(in map: inout Map) throws -> Int? {
    guard let key = try nextKey(in: &map) else { return nil }
    if let number = key.intValue ?? Int(key.stringValue) { return number }
    throw withSession { session in
      DecodingError.typeMismatch(
        Int.self,
        .init(
          codingPath: session.codingPath(to: map.start) + [key],
          debugDescription: "Expected Int key but found String key instead."
        )
      )
    }
  }

  /// Goes on to the next entry of a dictionary. A key that was there before may be one that is in the map twice.
  @usableFromInline
  mutating func endDictionaryEntry(isNew: Bool, in map: inout Map) {
    withSession { session in
      map.advance(to: session.next)
      if !isNew { session.checkTwins(in: map.entries) }
    }
  }
}

extension CBORReader.List {
  /// How many elements to make room for at once: a count that lies reserves little.
  @usableFromInline
  var usualCapacity: Int { min(count, 256) }
}
