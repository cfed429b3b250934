import Foundation

/// Decodes one document into a value.
///
/// There is no intermediate representation: containers are offsets into the bytes. Two facts are kept about the value being
/// decoded, and saved and restored around each value inside it: where it ends, once known, and where reading continues in
/// the last map used. Both are facts about the bytes, so a container that outlives its value cannot invalidate them.
///
/// The reader only has bytes while their owner lends them, from ``decodeDocument(_:_:)`` to ``reset()``.
///
/// Safety: the state that each read changes is not checked for exclusive access, since checks would take a tenth of the
/// time. Each access is to one property, and ends before any code runs that could come back to the session. The session
/// belongs to the one call that took it from its decoder, so one thread uses it at a time.
final class DecodingSession {
  /// The reading position in the value being decoded.
  struct Frame {
    var start = 0
    /// The offset after the value, or -1 if not known yet.
    var end = -1
    var cursor = Cursor()
  }

  /// The next entry of a map: fields are usually read in the order in which they were written.
  struct Cursor {
    /// The offset of the map's first key, which identifies the map.
    var map = -1
    /// The offset of the next key.
    var key = 0
    /// The number of entries from the next key on.
    var remaining = 0
  }

  /// The state that each read changes.
  private struct State: ~Copyable {
    var reader = ItemReader.empty
    var frame = Frame()
    /// What is being read in the innermost value, for errors.
    var place = Place(start: -1, component: Place.nothing)
    /// The enclosing values, outermost first.
    var places = [Place](repeating: Place(start: -1, component: Place.nothing), count: maximumDepth)
    var shelf = ContainerShelf<MapReading>()
    var directTypes = KnownTypes<any CBORDecodable.Type>()
  }

  @exclusivity(unchecked) private var uncheckedState = State()
  private(set) var reader: ItemReader {
    @inline(__always) _read { yield unsafe uncheckedState.reader }
    @inline(__always) _modify { yield unsafe &uncheckedState.reader }
  }
  var frame: Frame {
    @inline(__always) _read { yield unsafe uncheckedState.frame }
    @inline(__always) _modify { yield unsafe &uncheckedState.frame }
  }
  var place: Place {
    @inline(__always) _read { yield unsafe uncheckedState.place }
    @inline(__always) _modify { yield unsafe &uncheckedState.place }
  }
  var shelf: ContainerShelf<MapReading> {
    @inline(__always) _read { yield unsafe uncheckedState.shelf }
    @inline(__always) _modify { yield unsafe &uncheckedState.shelf }
  }

  private var places: [Place] {
    @inline(__always) _read { yield unsafe uncheckedState.places }
    @inline(__always) _modify { yield unsafe &uncheckedState.places }
  }

  private var directTypes: KnownTypes<any CBORDecodable.Type> {
    @inline(__always) _read { yield unsafe uncheckedState.directTypes }
    @inline(__always) _modify { yield unsafe &uncheckedState.directTypes }
  }

  /// The offset after the item read last.
  var next = 0
  private var depth = 0
  let userInfo: [CodingUserInfoKey: any Sendable]
  /// The positions of the keys of large maps, by the offset of a map's first key.
  private var indexes: [Int: [DocumentKey: Cursor]] = [:]
  /// `allKeys` cannot throw: its errors are thrown once the document has been read.
  private var failure: DecodingError?
  /// Whether there is a failure or an index, which is rare.
  private var hasMore = false

  /// A value being decoded, or an item in one: its offset, and its key or index in the enclosing value.
  struct Place {
    var start: Int
    /// The offset of its key, the complement of its array index, ``nothing`` or ``unknown``.
    var component: Int

    /// The enclosing value itself.
    static let nothing = Int.min
    /// In a nested container: found by walking.
    static let unknown = Int.min + 1
  }

  init(userInfo: [CodingUserInfoKey: any Sendable] = [:]) {
    self.userInfo = userInfo
  }

  // MARK: Whole documents

  private func begin(_ reader: ItemReader) throws {
    guard reader.count > 0 else {
      throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "There are no bytes."))
    }
    guard reader.count <= UnkeyedDecoding.maximumOffset else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: [], debugDescription: "A document of \(reader.count) bytes is too large to decode.")
      )
    }
    self.reader = reader
  }

  func decodeDocument<T: Decodable>(_ type: T.Type, _ reader: ItemReader) throws -> T {
    try begin(reader)
    let value = try decode(type, at: 0)
    try finish()
    return value
  }

  /// Decodes a document without Codable.
  func decodeDocument<T: CBORDecodable>(directly type: T.Type, _ reader: ItemReader) throws -> T {
    try begin(reader)
    next = 0
    let value: T = try readDirectly()
    try finish()
    return value
  }

  @inline(__always)
  private func finish() throws {
    if hasMore { try throwFailure() }
    guard next == reader.count else {
      throw corrupted(at: next, "\(reader.count - next) bytes follow the value.")
    }
  }

  @inline(never)
  private func throwFailure() throws {
    if let failure { throw failure }
  }

  /// Drops the bytes: a container still held reads nothing.
  func reset() {
    if shelf.isHeld { letGo() }
    reader = .empty
    frame = Frame()
    place.start = -1
    depth = 0
    if hasMore { forgetMore() }
  }

  @inline(never)
  private func forgetMore() {
    indexes = [:]
    failure = nil
    hasMore = false
  }

  @inline(never)
  private func letGo() {
    for (container, map) in shelf.takeHeld() {
      map.owner = self
      HeldContainers.keep(container, map)
    }
  }

  // MARK: Values

  // Values nest on the stack, so as little as possible stays there while an inner value is being read.

  /// Decodes the item at `offset`, and sets ``next`` to the offset after it.
  func decode<T: Decodable>(_ type: T.Type, at offset: Int) throws -> T {
    let direct = DirectType(type)
    if direct != .none { return try read(direct, at: offset) }
    if let type = directTypes.found(for: T.self, { $0 as? any CBORDecodable.Type }) {
      return try decode(as: type, at: offset)
    }
    return try decodeThroughCodable(type, at: offset)
  }

  /// Decodes the item at `offset` by the type's own `init(from:)`, and sets ``next`` to the offset after it.
  func decodeThroughCodable<T: Decodable>(_ type: T.Type, at offset: Int) throws -> T {
    let outer = try push(offset)
    defer { pop(outer) }
    let value = try T(from: ValueDecoder(session: self, start: offset))
    try noteNext(offset)
    return value
  }

  /// Decodes the item at `offset` as a type that does without Codable, and is found to be `T`.
  private func decode<T: Decodable, D: CBORDecodable>(as type: D.Type, at offset: Int) throws -> T {
    next = offset
    let depth = depth
    do {
      let value: D = try readDirectly()
      place.start = -1
      return same(value)
    } catch {
      self.depth = depth
      throw error
    }
  }

  @inline(__always)
  private func readDirectly<T: CBORDecodable>() throws -> T {
    var reader = CBORReader(self)
    let value = try T(from: &reader)
    reader.checkSession(self)
    return value
  }

  /// Goes into the container at `offset`, of a value that does without Codable.
  @inline(__always)
  func descend(into offset: Int) throws {
    guard depth < maximumDepth else {
      throw corrupted(at: offset, "Values are nested in more than \(maximumDepth) others.")
    }
    places[depth] = Place(start: offset, component: component(of: offset))
    depth += 1
    place.start = -1
  }

  @inline(__always)
  func ascend() {
    depth -= 1
    place.start = -1
  }

  /// Begins a value, and returns the frame of the enclosing value.
  @inline(__always)
  private func push(_ offset: Int) throws -> Frame {
    guard depth < maximumDepth else {
      throw corrupted(at: offset, "Values are nested in more than \(maximumDepth) others.")
    }
    let outer = frame
    places[depth] = Place(start: offset, component: component(of: offset))
    depth += 1
    frame = Frame(start: offset)
    place.start = -1
    return outer
  }

  @inline(__always)
  private func pop(_ outer: Frame) {
    depth -= 1
    frame = outer
    place.start = -1
  }

  /// Sets ``next`` to the offset after the decoded value at `offset`.
  @inline(__always)
  private func noteNext(_ offset: Int) throws {
    next = frame.end >= 0 ? frame.end : try skip(offset)
  }

  /// The value of a type with a form of its own. Separate from ``decode(_:at:)``, to keep that small on the stack.
  private func read<T: Decodable>(_ type: DirectType, at offset: Int) throws -> T {
    switch type {
    case .none: preconditionFailure("a type without a form of its own")
    case .int: return same(try integer(Int.self, at: offset))
    case .string: return same(try text(at: offset))
    case .double: return same(try double(at: offset))
    case .bool: return same(try bool(at: offset))
    case .ints: return same(try integers(at: offset))
    case .bytes: return same(try byteArray(at: offset))
    case .date: return same(try date(at: offset))
    case .data: return same(try data(at: offset))
    case .uuid: return same(try uuid(at: offset))
    case .url: return same(try url(at: offset))
    case .decimal: return same(try decimal(at: offset))
    }
  }

  @inline(__always)
  func found(_ end: Int, ofItemAt start: Int) {
    if frame.start == start { frame.end = end }
  }

  func skip(_ offset: Int) throws -> Int {
    do { return try reader.skip(offset) } catch { throw decodingError(error) }
  }

  // MARK: Maps

  /// A map with more entries than this gets an index if its fields are not read in order.
  static let smallMap = 16

  /// The offset of the value at the cursor if its key is `key`.
  @inline(__always)
  func valueAtCursor(_ key: some CodingKey, _ spellings: KeySpellings) -> Int? {
    guard let item = spellings.item(of: key) else { return valueAtCursor(key.stringValue) }
    return reader.has(item, at: frame.cursor.key) ? frame.cursor.key + item.length : nil
  }

  @inline(__always)
  private func valueAtCursor(_ key: String) -> Int? {
    let position = frame.cursor.key
    guard position < reader.count else { return nil }
    let length = Int(reader.byte(position) &- MajorType.text)
    let value = position + 1 + length
    guard length < 24, value <= reader.count else { return nil }
    return reader.hasText(key, from: position + 1, to: value) ? value : nil
  }

  /// The offset of the value for `key` in the map, or nil if it has no such key. Moves the cursor to its entry.
  @inline(never)
  func find(_ key: some CodingKey, in map: DocumentMap) throws -> Int? {
    if frame.cursor.map != map.first {
      frame.cursor = map.start
    }
    do {
      if map.entries > Self.smallMap {
        if let value = try value(of: key, at: frame.cursor) { return value }
        return try findIndexed(key, in: map)
      }
      return try findAhead(key, in: map)
    } catch {
      throw decodingError(error)
    }
  }

  /// Searches from the cursor to the end, then from the beginning to the cursor.
  private func findAhead(_ key: some CodingKey, in map: DocumentMap) throws -> Int? {
    var cursor = frame.cursor
    for _ in 0..<map.entries {
      if cursor.remaining == 0 { cursor = map.start }
      if let value = try value(of: key, at: cursor) {
        frame.cursor = cursor
        return value
      }
      cursor.key = try reader.skip(try reader.skip(cursor.key))
      cursor.remaining -= 1
    }
    return nil
  }

  func value(of key: some CodingKey, at cursor: Cursor) throws -> Int? {
    guard cursor.remaining > 0, let candidate = try reader.key(at: cursor.key) else { return nil }
    guard candidate.matches(key) else { return nil }
    return try reader.skip(cursor.key)
  }

  private func findIndexed(_ key: some CodingKey, in map: DocumentMap) throws -> Int? {
    guard let entry = try entry(of: key, in: map) else { return nil }
    frame.cursor = entry
    return try reader.skip(entry.key)
  }

  /// The position of the entry for `key`, from the map's index.
  func entry(of key: some CodingKey, in map: DocumentMap) throws -> Cursor? {
    let index = try index(of: map)
    if let entry = index[DocumentKey(stringValue: key.stringValue)] { return entry }
    return key.intValue.flatMap { index[DocumentKey(intValue: $0)] }
  }

  private func index(of map: DocumentMap) throws -> [DocumentKey: Cursor] {
    if let index = indexes[map.first] { return index }
    var index: [DocumentKey: Cursor] = [:]
    index.reserveCapacity(map.entries)
    try forEachEntry(of: map) { key, cursor in index[key] = cursor }
    indexes[map.first] = index
    hasMore = true
    return index
  }

  /// Calls `body` with each key that a `CodingKey` can represent, and its position.
  private func forEachEntry(of map: DocumentMap, _ body: (DocumentKey, Cursor) -> Void) throws {
    var cursor = map.start
    while cursor.remaining > 0 {
      if let key = try reader.key(at: cursor.key) { body(key, cursor) }
      cursor.key = try reader.skip(try reader.skip(cursor.key))
      cursor.remaining -= 1
    }
  }

  /// The keys of a map, in document order. A duplicate key fails the document.
  func keys(of map: DocumentMap) -> [DocumentKey] {
    var keys: [DocumentKey] = []
    keys.reserveCapacity(map.entries)
    do {
      try forEachEntry(of: map) { key, _ in keys.append(key) }
    } catch {
      fail(decodingError(error))
    }
    if hasTwins(keys) { fail(corrupted(at: map.first, "A map has the same key twice.")) }
    return keys
  }

  private func hasTwins(_ keys: [DocumentKey]) -> Bool {
    // For few keys, comparing all pairs is faster than hashing.
    guard keys.count <= Self.smallMap else { return Set(keys).count < keys.count }
    return keys.indices.contains { index in keys[..<index].contains(keys[index]) }
  }

  /// Fails the document if the map has a key twice.
  func checkTwins(in map: DocumentMap) {
    _ = keys(of: map)
  }

  private func fail(_ error: DecodingError) {
    if failure == nil { failure = error }
    hasMore = true
  }

  // MARK: Errors

  /// The key or index, in the innermost value, of the item at `offset`.
  @inline(__always)
  private func component(of offset: Int) -> Int {
    if place.start == offset { return place.component }
    return offset == frame.start ? Place.nothing : Place.unknown
  }

  /// The coding path of the item at `offset` in the innermost value.
  func codingPath(to offset: Int) -> [any CodingKey] {
    var path: [any CodingKey] = []
    var start = 0
    for level in 0..<depth {
      append(places[level], in: start, to: &path)
      start = places[level].start
    }
    append(Place(start: offset, component: component(of: offset)), in: start, to: &path)
    return path
  }

  private func append(_ place: Place, in start: Int, to path: inout [any CodingKey]) {
    switch place.component {
    case Place.nothing:
      return
    case Place.unknown:
      path += reader.path(from: start, to: place.start)
    case 0...:
      if let key = try? reader.key(at: place.component) { path.append(key) }
    default:
      path.append(DocumentKey.index(~place.component))
    }
  }

  @inline(never)
  func corrupted(at offset: Int, _ reason: String) -> DecodingError {
    .dataCorrupted(
      .init(codingPath: codingPath(to: offset), debugDescription: "\(reason) (At byte \(offset) of \(reader.count).)")
    )
  }

  @inline(never)
  func decodingError(_ error: any Error) -> DecodingError {
    switch error {
    case let error as MalformedItem: corrupted(at: error.offset, error.reason)
    case let error as DecodingError: error
    default: corrupted(at: next, "\(error)")
    }
  }

  /// The error for an item of the wrong kind for `type`.
  @inline(never)
  func mismatch(_ type: any Any.Type, at offset: Int) -> DecodingError {
    do {
      let head = try reader.untaggedHead(at: offset)
      let context = DecodingError.Context(
        codingPath: codingPath(to: offset),
        debugDescription: "Expected \(type), found \(head.kind). (At byte \(offset) of \(reader.count).)"
      )
      return head.isNull ? .valueNotFound(type, context) : .typeMismatch(type, context)
    } catch {
      return decodingError(error)
    }
  }
}
