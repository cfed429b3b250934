/// Where a ``CBORDecodable`` value reads its item.
///
/// A reader is lent for the duration of a call, and cannot be copied. No input makes it trap or hang.
///
/// Safety: the session is alive as long as the call for which it lends a reader, which the reader does not outlive: nobody else
/// can make one, and `checkSession(_:)` finds out whether it was exchanged for that of another call.
@safe
public struct CBORReader: ~Copyable {
  private let session: BorrowedObject<DecodingSession>

  init(_ session: DecodingSession) {
    self.session = unsafe BorrowedObject(session)
  }

  /// Stops the program if this is the reader of another call.
  @inline(__always)
  func checkSession(_ expected: DecodingSession) {
    session.with { precondition($0 === expected, "A CBORReader was exchanged for that of another call.") }
  }

  @inline(__always)
  func withSession<R>(_ body: (DecodingSession) throws -> R) rethrows -> R {
    try session.with(body)
  }

  /// The offset of what is read next.
  @usableFromInline
  var position: Int { session.with { $0.next } }

  // MARK: Values

  /// Reads a value.
  ///
  /// - Throws: what the type's `init(from:)` throws.
  @inlinable
  public mutating func read<T: CBORDecodable>(_ type: T.Type = T.self) throws -> T {
    try T(from: &self)
  }

  /// Reads a value through Codable, unless its type turns out to be ``CBORDecodable``.
  ///
  /// - Throws: what the type's `init(from:)` throws.
  public mutating func read<T: Decodable>(_ type: T.Type = T.self) throws -> T {
    try session.with { session in try session.decode(type, at: session.next) }
  }

  /// Reads null if it comes next; otherwise reads nothing and returns false.
  public mutating func readNull() -> Bool {
    session.with { session in
      let start = session.next
      let isNull = (try? session.isNull(at: start)) ?? false
      if !isNull { session.next = start }
      return isNull
    }
  }

  /// Passes over an item of any kind.
  ///
  /// - Throws: `DecodingError` if it is not well-formed.
  public mutating func skip() throws {
    try session.with { session in session.next = try session.skip(session.next) }
  }

  // MARK: Maps

  /// A map that has been begun and not yet ended.
  public struct Map: ~Copyable {
    let start: Int
    let entries: DocumentMap
    let isIndefinite: Bool
    var cursor: DecodingSession.Cursor
  }

  /// Begins a map, as structs are read.
  ///
  /// - Throws: `DecodingError` if the next item is no map, or values are nested too deeply.
  public mutating func beginMap() throws -> Map {
    let start = position
    let (head, count) = try session.with { session in
      try session.descend(into: start)
      return try session.mapHead(at: start)
    }
    let entries = DocumentMap(first: head.end, entries: count)
    return Map(start: start, entries: entries, isIndefinite: head.isIndefinite, cursor: entries.start)
  }

  /// Ends a map, and passes over the entries that were not read.
  ///
  /// - Throws: `DecodingError` if those are not well-formed.
  public mutating func end(_ map: consuming Map) throws {
    try session.with { session in
      session.next =
        map.cursor.remaining == 0 ? map.cursor.key + (map.isIndefinite ? 1 : 0) : try session.skip(map.start)
      session.ascend()
    }
  }

  /// Goes to the value for `key`.
  @usableFromInline
  mutating func begin(_ key: CBORKey, in map: inout Map) throws {
    try session.with { $0.next = try $0.offset(of: key, in: &map) }
  }

  /// Goes to the value for `key` unless that is missing or null.
  @usableFromInline
  mutating func beginOptional(_ key: CBORKey, in map: inout Map) throws -> Bool {
    try session.with { session in
      guard let offset = try session.find(key, in: &map) else { return false }
      if try session.isNull(at: offset) {
        map.advance(to: session.next)
        return false
      }
      session.next = offset
      return true
    }
  }

  /// Goes on to the next entry.
  @usableFromInline
  mutating func end(in map: inout Map) {
    session.with { map.advance(to: $0.next) }
  }

  /// Reads the value for `key`.
  ///
  /// - Throws: `DecodingError` if there is none, and what the type's `init(from:)` throws.
  @inlinable
  public mutating func read<T: CBORDecodable>(
    _ type: T.Type = T.self,
    forKey key: CBORKey,
    in map: inout Map
  ) throws -> T {
    try begin(key, in: &map)
    let value = try T(from: &self)
    end(in: &map)
    return value
  }

  /// Reads the value for `key`; nil if there is none, or null.
  ///
  /// - Throws: what the type's `init(from:)` throws.
  @inlinable
  public mutating func read<T: CBORDecodable>(
    _ type: T?.Type = T?.self,
    forKey key: CBORKey,
    in map: inout Map
  ) throws -> T? {
    guard try beginOptional(key, in: &map) else { return nil }
    let value = try T(from: &self)
    end(in: &map)
    return value
  }

  /// Reads the value for `key` through Codable, unless its type turns out to be ``CBORDecodable``.
  ///
  /// - Throws: `DecodingError` if there is none, and what the type's `init(from:)` throws.
  public mutating func read<T: Decodable>(
    _ type: T.Type = T.self,
    forKey key: CBORKey,
    in map: inout Map
  ) throws -> T {
    try begin(key, in: &map)
    let value = try read(type)
    end(in: &map)
    return value
  }

  /// Reads the value for `key` through Codable, unless its type turns out to be ``CBORDecodable``; nil if there is none, or
  /// null.
  ///
  /// - Throws: what the type's `init(from:)` throws.
  public mutating func read<T: Decodable>(
    _ type: T?.Type = T?.self,
    forKey key: CBORKey,
    in map: inout Map
  ) throws -> T? {
    guard try beginOptional(key, in: &map) else { return nil }
    let value = try read(T.self)
    end(in: &map)
    return value
  }

  /// Reads the value for `key`.
  ///
  /// - Throws: `DecodingError` if there is none, or it is no such number.
  public mutating func read(_ type: Int.Type = Int.self, forKey key: CBORKey, in map: inout Map) throws -> Int {
    try entry(key, in: &map) { try $0.integer(type, at: $1) }
  }

  /// Reads the value for `key`.
  ///
  /// - Throws: `DecodingError` if there is none, or it is no text.
  public mutating func read(
    _ type: String.Type = String.self,
    forKey key: CBORKey,
    in map: inout Map
  ) throws -> String {
    try entry(key, in: &map) { try $0.text(at: $1) }
  }

  /// Reads the value for `key`.
  ///
  /// - Throws: `DecodingError` if there is none, or it is no such number.
  public mutating func read(
    _ type: Double.Type = Double.self,
    forKey key: CBORKey,
    in map: inout Map
  ) throws -> Double {
    try entry(key, in: &map) { try $0.double(at: $1) }
  }

  /// Reads the value for `key`.
  ///
  /// - Throws: `DecodingError` if there is none, or it is no Boolean.
  public mutating func read(_ type: Bool.Type = Bool.self, forKey key: CBORKey, in map: inout Map) throws -> Bool {
    try entry(key, in: &map) { try $0.bool(at: $1) }
  }

  /// Reads the value for `key` at its offset.
  @inline(__always)
  private mutating func entry<T>(
    _ key: CBORKey,
    in map: inout Map,
    _ read: (DecodingSession, Int) throws -> T
  ) throws -> T {
    try session.with { session in
      let value = try read(session, try session.offset(of: key, in: &map))
      map.advance(to: session.next)
      return value
    }
  }

  // MARK: Lists

  /// A list that has been begun and not yet ended.
  public struct List: ~Copyable {
    /// How many elements it has; no more than bytes are left.
    public let count: Int
    let start: Int
    let isIndefinite: Bool
    fileprivate var index = 0

    /// Whether all elements have been read.
    public var isAtEnd: Bool { index >= count }
  }

  /// Begins a list, as arrays are read.
  ///
  /// - Throws: `DecodingError` if the next item is no array, or values are nested too deeply.
  public mutating func beginList() throws -> List {
    let start = position
    let (head, count) = try session.with { session in
      try session.descend(into: start)
      let (head, count) = try session.arrayHead(at: start)
      session.next = head.end
      return (head, count)
    }
    return List(count: count, start: start, isIndefinite: head.isIndefinite)
  }

  /// Ends a list, and passes over the elements that were not read.
  ///
  /// - Throws: `DecodingError` if those are not well-formed.
  public mutating func end(_ list: consuming List) throws {
    try session.with { session in
      if !list.isAtEnd {
        session.next = try session.skip(list.start)
      } else if list.isIndefinite {
        session.next += 1
      }
      session.ascend()
    }
  }

  @usableFromInline
  mutating func begin(in list: inout List) throws {
    try session.with { session in
      guard list.isAtEnd else {
        session.place = DecodingSession.Place(start: session.next, component: ~list.index)
        list.index += 1
        return
      }
      throw DecodingError.valueNotFound(
        Any.self,
        .init(
          codingPath: session.codingPath(to: list.start) + [DocumentKey.index(list.count)],
          debugDescription:
            "The array has no more than \(list.count) elements. (At byte \(session.next) of \(session.reader.count).)"
        )
      )
    }
  }

  /// Reads the next element.
  ///
  /// - Throws: `DecodingError` if there is none, and what the type's `init(from:)` throws.
  @inlinable
  public mutating func read<T: CBORDecodable>(_ type: T.Type = T.self, in list: inout List) throws -> T {
    try begin(in: &list)
    return try T(from: &self)
  }

  /// Reads the next element through Codable, unless its type turns out to be ``CBORDecodable``.
  ///
  /// - Throws: `DecodingError` if there is none, and what the type's `init(from:)` throws.
  public mutating func read<T: Decodable>(_ type: T.Type = T.self, in list: inout List) throws -> T {
    try begin(in: &list)
    return try read(type)
  }
}

extension CBORReader.Map {
  @inline(__always)
  mutating func advance(to key: Int) {
    cursor.key = key
    cursor.remaining -= 1
  }
}

extension DecodingSession {
  /// The offset of the value for `key`.
  @inline(__always)
  fileprivate func offset(of key: CBORKey, in map: inout CBORReader.Map) throws -> Int {
    if key.length > 0, map.cursor.remaining > 0, reader.has(key, at: map.cursor.key) {
      return map.cursor.key + Int(key.length)
    }
    return try offsetElsewhere(of: key, in: &map)
  }

  @inline(never)
  private func offsetElsewhere(of key: CBORKey, in map: inout CBORReader.Map) throws -> Int {
    guard let offset = try find(key, in: &map) else { throw notFound(key, in: map) }
    return offset
  }

  private func notFound(_ key: CBORKey, in map: borrowing CBORReader.Map) -> DecodingError {
    .keyNotFound(
      key.codingKey,
      .init(
        codingPath: codingPath(to: map.start),
        debugDescription:
          "There is no value for the key \"\(key.text)\". (At byte \(map.start) of \(reader.count).)"
      )
    )
  }

  /// The offset of the value for `key`, or nil if the map has no such key. Moves the cursor to its entry. As
  /// `find` for Codable does, entries are looked at from the cursor on, then from the beginning.
  @inline(never)
  fileprivate func find(_ key: CBORKey, in map: inout CBORReader.Map) throws -> Int? {
    do {
      if map.entries.entries > Self.smallMap {
        if let value = try value(of: key, at: map.cursor) { return value }
        guard let entry = try entry(of: key.codingKey, in: map.entries) else { return nil }
        map.cursor = entry
        return try reader.skip(entry.key)
      }
      var cursor = map.cursor
      for _ in 0..<map.entries.entries {
        if cursor.remaining == 0 { cursor = map.entries.start }
        if let value = try value(of: key, at: cursor) {
          map.cursor = cursor
          return value
        }
        cursor.key = try reader.skip(try reader.skip(cursor.key))
        cursor.remaining -= 1
      }
      return nil
    } catch {
      throw decodingError(error)
    }
  }

  private func value(of key: CBORKey, at cursor: Cursor) throws -> Int? {
    guard cursor.remaining > 0 else { return nil }
    if key.length > 0 {
      if reader.has(key, at: cursor.key) { return cursor.key + Int(key.length) }
      if reader.isPlainKey(at: cursor.key) { return nil }
    } else if reader.has(key, at: cursor.key) {
      return try reader.skip(cursor.key)
    }
    return try value(of: key.codingKey, at: cursor)
  }
}
