/// Where a ``CBOREncodable`` value writes its item.
///
/// A writer is lent for the duration of a call, and cannot be copied.
///
/// Safety: the session is alive as long as the call for which it lends a writer, which the writer does not outlive: nobody else
/// can make one, and `checkSession(_:)` finds out whether it was exchanged for that of another call.
@safe
public struct CBORWriter: ~Copyable {
  private let session: BorrowedObject<EncodingSession>

  init(_ session: EncodingSession) {
    self.session = unsafe BorrowedObject(session)
  }

  /// Stops the program if this is the writer of another call.
  @inline(__always)
  func checkSession(_ expected: EncodingSession) {
    session.with { precondition($0 === expected, "A CBORWriter was exchanged for that of another call.") }
  }

  @inline(__always)
  func withSession<R>(_ body: (EncodingSession) throws -> R) rethrows -> R {
    try session.with(body)
  }

  // MARK: Values

  /// Writes a value.
  ///
  /// - Throws: what the value's `encode(into:)` throws.
  @inlinable
  public mutating func write<T: CBOREncodable>(_ value: T) throws {
    try value.encode(into: &self)
  }

  /// Writes a value through Codable, unless its type turns out to be ``CBOREncodable``.
  ///
  /// - Throws: what the value's `encode(to:)` throws.
  public mutating func write<T: Encodable>(_ value: T) throws {
    try session.with { session in try session.encode(value, component: session.components[session.depth]) }
  }

  /// Writes null.
  public mutating func writeNull() {
    session.with { $0.writeNull() }
  }

  // MARK: Maps

  /// A map that has been begun and not yet ended.
  public struct Map: ~Copyable {
    fileprivate let start: Int
    fileprivate var entries = 0
  }

  /// Begins a map, as structs are written.
  ///
  /// - Throws: `EncodingError` if values are nested too deeply.
  public mutating func beginMap() throws -> Map {
    Map(start: try session.with { try $0.beginContainer() })
  }

  /// Ends a map.
  ///
  /// - Throws: `EncodingError` if keys are sorted and what was written is not well-formed.
  public mutating func end(_ map: consuming Map) throws {
    try session.with { try $0.endMap(map.entries, at: map.start) }
  }

  /// Writes a key, whose value must follow.
  @usableFromInline
  mutating func write(key: CBORKey, in map: inout Map) {
    begin(in: &map) { $0.write(key: key) }
  }

  /// Writes a key, whose value must follow.
  @inline(__always)
  mutating func begin(in map: inout Map, _ writeKey: (EncodingSession) -> Void) {
    session.with { session in
      session.components[session.depth] = session.output.count
      writeKey(session)
    }
    map.entries += 1
  }

  /// Writes an entry.
  ///
  /// - Throws: what the value's `encode(into:)` throws.
  @inlinable
  public mutating func write<T: CBOREncodable>(_ value: T, forKey key: CBORKey, in map: inout Map) throws {
    write(key: key, in: &map)
    try value.encode(into: &self)
  }

  /// Writes an entry unless the value is nil.
  ///
  /// - Throws: what the value's `encode(into:)` throws.
  @inlinable
  public mutating func write<T: CBOREncodable>(_ value: T?, forKey key: CBORKey, in map: inout Map) throws {
    guard let value else { return }
    write(key: key, in: &map)
    try value.encode(into: &self)
  }

  /// Writes an entry, its value through Codable unless its type turns out to be ``CBOREncodable``.
  ///
  /// - Throws: what the value's `encode(to:)` throws.
  public mutating func write<T: Encodable>(_ value: T, forKey key: CBORKey, in map: inout Map) throws {
    write(key: key, in: &map)
    try write(value)
  }

  /// Writes an entry unless the value is nil, the value through Codable unless its type turns out to be ``CBOREncodable``.
  ///
  /// - Throws: what the value's `encode(to:)` throws.
  public mutating func write<T: Encodable>(_ value: T?, forKey key: CBORKey, in map: inout Map) throws {
    guard let value else { return }
    write(key: key, in: &map)
    try write(value)
  }

  // Declared to throw as the others, so that code need not know which of them it calls.

  /// Writes an entry. Never throws.
  public mutating func write(_ value: Int, forKey key: CBORKey, in map: inout Map) throws {
    entry(key, in: &map) { $0.write(Int64(value)) }
  }

  /// Writes an entry. Never throws.
  public mutating func write(_ value: String, forKey key: CBORKey, in map: inout Map) throws {
    entry(key, in: &map) { $0.write(value) }
  }

  /// Writes an entry. Never throws.
  public mutating func write(_ value: Double, forKey key: CBORKey, in map: inout Map) throws {
    entry(key, in: &map) { $0.write(value) }
  }

  /// Writes an entry. Never throws.
  public mutating func write(_ value: Bool, forKey key: CBORKey, in map: inout Map) throws {
    entry(key, in: &map) { $0.write(value) }
  }

  /// Writes an entry whose value has no parts, so that no error can be about one.
  @inline(__always)
  private mutating func entry(_ key: CBORKey, in map: inout Map, _ writeValue: (EncodingSession) -> Void) {
    session.with { session in
      session.write(key: key)
      writeValue(session)
    }
    map.entries += 1
  }

  // MARK: Lists

  /// A list that has been begun and not yet ended.
  public struct List: ~Copyable {
    fileprivate let start: Int
    fileprivate var elements = 0
  }

  /// Begins a list, as arrays are written.
  ///
  /// - Throws: `EncodingError` if values are nested too deeply.
  public mutating func beginList() throws -> List {
    List(start: try session.with { try $0.beginContainer() })
  }

  /// Ends a list.
  public mutating func end(_ list: consuming List) {
    session.with { $0.endArray(list.elements, at: list.start) }
  }

  @usableFromInline
  mutating func note(in list: inout List) {
    session.with { session in session.components[session.depth] = ~list.elements }
    list.elements += 1
  }

  /// Writes an element.
  ///
  /// - Throws: what the value's `encode(into:)` throws.
  @inlinable
  public mutating func write<T: CBOREncodable>(_ value: T, in list: inout List) throws {
    note(in: &list)
    try value.encode(into: &self)
  }

  /// Writes an element through Codable, unless its type turns out to be ``CBOREncodable``.
  ///
  /// - Throws: what the value's `encode(to:)` throws.
  public mutating func write<T: Encodable>(_ value: T, in list: inout List) throws {
    note(in: &list)
    try write(value)
  }

  // MARK: Elements of collections

  /// Begins a list of as many elements as a collection has, which must all follow, each announced by ``element(_:)``.
  @usableFromInline
  mutating func beginElements(_ count: Int) throws {
    try session.with { session in
      try session.descend()
      session.writeHead(MajorType.array, UInt64(count))
    }
  }

  /// Announces the element at `index`.
  @usableFromInline
  mutating func element(_ index: Int) {
    session.with { session in session.components[session.depth] = ~index }
  }

  @usableFromInline
  mutating func endElements() {
    session.with { $0.ascend() }
  }
}
