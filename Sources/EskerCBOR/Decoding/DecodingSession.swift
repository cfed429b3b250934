import Foundation

/// One document on its way into a value.
///
/// Nothing is built in between: containers are offsets into the bytes. Two facts are kept about the value being decoded,
/// and restored around each value inside it: where it ends, once something has found out, and where the last map that was
/// asked goes on. Both are facts about the bytes, so a container that outlives its value can make nothing wrong with them.
///
/// The properties are unchecked for exclusive access: no call between two accesses of a property leaves this class.
final class DecodingSession {
  /// Where reading stands in the value being decoded.
  struct Frame {
    var start = 0
    /// The offset behind the value, -1 while that is not known.
    var end = -1
    var cursor = Cursor()
  }

  /// The next entry of a map: fields are mostly asked for in the order in which they were written.
  struct Cursor {
    /// Where the map's first key is, which tells the map.
    var map = -1
    /// Where the next key is.
    var key = 0
    /// How many entries there are from the next key on.
    var remaining = 0
  }

  @exclusivity(unchecked) private(set) var reader: Reader
  @exclusivity(unchecked) var frame = Frame()
  /// The offset behind what was read last.
  @exclusivity(unchecked) var next = 0
  /// What is being read in the innermost value, for errors.
  @exclusivity(unchecked) var place = Place(start: -1, component: Place.nothing)
  @exclusivity(unchecked) private var depth = 0
  /// The values around, outermost first.
  private let places = UnsafeMutablePointer<Place>.allocate(capacity: maximumDepth)
  let userInfo: [CodingUserInfoKey: any Sendable]
  /// Where the keys of large maps are, by the offset of their first key.
  @exclusivity(unchecked) private var indexes: [Int: [DocumentKey: Cursor]] = [:]
  @exclusivity(unchecked) var shelf = ContainerShelf<MapReading>()
  /// `allKeys` cannot throw: what was wrong is thrown when the document has been read.
  @exclusivity(unchecked) private var failure: DecodingError?
  @exclusivity(unchecked) private var hasFailed = false

  /// A value that is being decoded, or a place in one: where its item is, and what leads there from the value around it.
  struct Place {
    var start: Int
    /// The offset of its key, the complement of its place in an array, ``nothing`` or ``unknown``.
    var component: Int

    /// Leads nowhere else.
    static let nothing = Int.min
    /// Inside a container inside the value: found by walking.
    static let unknown = Int.min + 1
  }

  /// What a reader without bytes points to; it refuses every access.
  private let nowhere = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)

  init(userInfo: [CodingUserInfoKey: any Sendable] = [:]) {
    self.userInfo = userInfo
    reader = Reader(base: UnsafeRawPointer(nowhere), count: 0)
  }

  deinit {
    nowhere.deallocate()
    places.deallocate()
  }

  // MARK: Whole documents

  private func begin(_ buffer: UnsafeRawBufferPointer) throws {
    guard let base = buffer.baseAddress, buffer.count > 0 else {
      throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "There are no bytes."))
    }
    guard buffer.count <= UnkeyedDecoding.maximumOffset else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: [], debugDescription: "A document of \(buffer.count) bytes is too large to decode.")
      )
    }
    reader = Reader(base: base, count: buffer.count)
  }

  func decodeDocument<T: Decodable>(_ type: T.Type, _ buffer: UnsafeRawBufferPointer) throws -> T {
    try begin(buffer)
    let value = try decode(type, at: 0)
    if hasFailed, let failure { throw failure }
    guard next == reader.count else {
      throw corrupted(at: next, "\(reader.count - next) bytes follow the value.")
    }
    return value
  }

  /// Lets go of the bytes: whoever still has a container reads nothing.
  func reset() {
    if shelf.isHeld { letGo() }
    reader = Reader(base: UnsafeRawPointer(nowhere), count: 0)
    frame = Frame()
    place.start = -1
    depth = 0
    if !indexes.isEmpty { indexes = [:] }
    if hasFailed {
      hasFailed = false
      failure = nil
    }
  }

  @inline(never)
  private func letGo() {
    for (container, map) in shelf.takeHeld() {
      map.owner = self
      HeldContainers.keep(container, map)
    }
  }

  // MARK: Values

  /// The value of the item at `offset`; ``next`` is then the offset behind it.
  func decode<T: Decodable>(_ type: T.Type, at offset: Int) throws -> T {
    switch DirectType(type) {
    case .none: break
    case .int: return unsafeBitCast(try integer(Int.self, at: offset), to: type)
    case .string: return unsafeBitCast(try text(at: offset), to: type)
    case .double: return unsafeBitCast(try double(at: offset), to: type)
    case .bool: return unsafeBitCast(try bool(at: offset), to: type)
    case .ints: return unsafeBitCast(try integers(at: offset), to: type)
    case .bytes: return unsafeBitCast(try byteArray(at: offset), to: type)
    case .date: return unsafeBitCast(try date(at: offset), to: type)
    case .data: return unsafeBitCast(try data(at: offset), to: type)
    case .uuid: return unsafeBitCast(try uuid(at: offset), to: type)
    case .url: return unsafeBitCast(try url(at: offset), to: type)
    case .decimal: return unsafeBitCast(try decimal(at: offset), to: type)
    }
    guard depth < maximumDepth else {
      throw corrupted(at: offset, "Values are nested in more than \(maximumDepth) others.")
    }
    let saved = frame
    places[depth] = Place(start: offset, component: component(of: offset))
    depth += 1
    frame = Frame(start: offset)
    place.start = -1
    defer {
      depth -= 1
      frame = saved
      place.start = -1
    }
    let value = try T(from: ValueDecoder(session: self, start: offset))
    next = frame.end >= 0 ? frame.end : try skip(offset)
    return value
  }

  /// Notes that the item at `start` ends at `end`.
  @inline(__always)
  func found(_ end: Int, ofItemAt start: Int) {
    if frame.start == start { frame.end = end }
  }

  func skip(_ offset: Int) throws -> Int {
    do { return try reader.skip(offset) } catch { throw decodingError(error) }
  }

  // MARK: Maps

  /// Above this many entries a map whose fields are not in order gets an index.
  private static let smallMap = 16

  /// The cursor's entry if its key is `key`: where its value is.
  @inline(__always)
  func valueAtCursor(_ key: some CodingKey, _ spellings: KeySpellings) -> Int? {
    guard let (item, length) = spellings.item(of: key) else { return valueAtCursor(key.stringValue) }
    return reader.has(item, length, at: frame.cursor.key) ? frame.cursor.key + length : nil
  }

  @inline(__always)
  private func valueAtCursor(_ key: String) -> Int? {
    let position = frame.cursor.key
    guard position < reader.count else { return nil }
    let length = Int(reader.byte(position) &- Major.text)
    let value = position + 1 + length
    guard length < 24, value <= reader.count else { return nil }
    var key = key
    return key.withUTF8 { buffer in
      guard buffer.count == length else { return nil }
      for index in 0..<length where buffer[index] != reader.byte(position + 1 + index) { return nil }
      return value
    }
  }

  /// Where the value of `key` is in the map, nil when it has no such key. The cursor is then at its entry.
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

  /// Looks from the cursor to the end and from the beginning to the cursor.
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

  private func value(of key: some CodingKey, at cursor: Cursor) throws -> Int? {
    guard cursor.remaining > 0, let candidate = try reader.key(at: cursor.key) else { return nil }
    guard candidate.matches(key) else { return nil }
    return try reader.skip(cursor.key)
  }

  private func findIndexed(_ key: some CodingKey, in map: DocumentMap) throws -> Int? {
    let index = try index(of: map)
    var entry = index[DocumentKey(stringValue: key.stringValue)]
    if entry == nil, let number = key.intValue { entry = index[DocumentKey(intValue: number)] }
    guard let entry else { return nil }
    frame.cursor = entry
    return try reader.skip(entry.key)
  }

  private func index(of map: DocumentMap) throws -> [DocumentKey: Cursor] {
    if let index = indexes[map.first] { return index }
    var index: [DocumentKey: Cursor] = [:]
    index.reserveCapacity(map.entries)
    try forEachEntry(of: map) { key, cursor in index[key] = cursor }
    indexes[map.first] = index
    return index
  }

  /// Calls `body` with each key that a `CodingKey` can be, and where it is.
  private func forEachEntry(of map: DocumentMap, _ body: (DocumentKey, Cursor) -> Void) throws {
    var cursor = map.start
    while cursor.remaining > 0 {
      if let key = try reader.key(at: cursor.key) { body(key, cursor) }
      cursor.key = try reader.skip(try reader.skip(cursor.key))
      cursor.remaining -= 1
    }
  }

  /// The keys of a map in the order of the bytes. A map in which a key is there twice fails the document.
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
    // Few keys are compared with each other sooner than hashed.
    guard keys.count <= Self.smallMap else { return Set(keys).count < keys.count }
    return keys.indices.contains { index in keys[..<index].contains(keys[index]) }
  }

  private func fail(_ error: DecodingError) {
    if !hasFailed { failure = error }
    hasFailed = true
  }

  // MARK: Errors

  /// What leads from the innermost value to the item at `offset`.
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
    case let error as Malformed: corrupted(at: error.offset, error.reason)
    case let error as DecodingError: error
    default: corrupted(at: next, "\(error)")
    }
  }

  /// The error for an item that is not what `type` is made from.
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

/// A map in the bytes.
struct DocumentMap {
  /// Where the first key is.
  let first: Int
  let entries: Int

  var start: DecodingSession.Cursor { DecodingSession.Cursor(map: first, key: first, remaining: entries) }
}

extension DocumentKey {
  /// Whether this is the key that `key` was written as.
  func matches(_ key: some CodingKey) -> Bool {
    if let intValue { return key.intValue == intValue }
    return key.stringValue == stringValue
  }
}

extension Reader.Head {
  var isNull: Bool { initial == Initial.null || initial == Initial.undefined }

  /// What the item is, for people.
  var kind: String {
    switch major {
    case Major.unsigned, Major.negative: "an integer"
    case Major.bytes: "a byte string"
    case Major.text: "a text"
    case Major.array: "an array"
    case Major.map: "a map"
    case Major.tag: "a tagged item"
    default:
      switch initial {
      case Initial.no, Initial.yes: "a Boolean"
      case Initial.null: "null"
      case Initial.undefined: "undefined"
      case Initial.half, Initial.single, Initial.double: "a floating-point number"
      default: "a simple value"
      }
    }
  }
}
