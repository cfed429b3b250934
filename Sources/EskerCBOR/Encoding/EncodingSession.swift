import Foundation

/// Encodes one value: holds the bytes so far and the open container.
///
/// Codable has no call for "this container is complete", but a value's `encode(to:)` returns. Between its start and its
/// return a value is a *frame*: the first container it opens writes a one-byte head, entries follow, and the end of the
/// frame sets the count, moving the entries if the head needs more than a byte. Nested values save and restore the frame on
/// the stack, so only the innermost can be written to; ``Frame/serial`` rejects writes to the others.
///
/// Safety: the state that each write changes is not checked for exclusive access, since checks would take a fifth of the
/// time. Each access is to one property, and ends before any code runs that could come back to the session. The session
/// belongs to the one call that took it from its encoder, so one thread uses it at a time.
final class EncodingSession {
  /// The value being encoded.
  struct Frame {
    enum Kind { case none, scalar, array, map }

    /// The offset of its head.
    var start = 0
    /// The number of elements or pairs written.
    var entries = 0
    var kind = Kind.none
    /// Never reused; 0 for none.
    var serial: UInt64 = 0
    var type: any Any.Type = Never.self
  }

  /// A container from `nestedContainer` or `superEncoder`, which may be written to as long as its frame lives.
  private struct Part {
    let offset: Int
    let session: EncodingSession
  }

  /// The state that each write changes.
  private struct State: ~Copyable {
    var output = OutputBytes()
    var frame = Frame()
    var shelf = ContainerShelf<MapWriting>()
    var parts: [Part] = []
    /// For each open frame, the offset of its key, the complement of its array index, or ``noComponent``. Behind them that of
    /// the entry that a direct value is writing.
    var components = [Int](repeating: 0, count: maximumDepth + 1)
    var directTypes = KnownTypes<any CBOREncodable.Type>()
  }

  @exclusivity(unchecked) private var uncheckedState = State()

  var output: OutputBytes {
    @inline(__always) _read { yield unsafe uncheckedState.output }
    @inline(__always) _modify { yield unsafe &uncheckedState.output }
  }
  var frame: Frame {
    @inline(__always) _read { yield unsafe uncheckedState.frame }
    @inline(__always) _modify { yield unsafe &uncheckedState.frame }
  }
  var shelf: ContainerShelf<MapWriting> {
    @inline(__always) _read { yield unsafe uncheckedState.shelf }
    @inline(__always) _modify { yield unsafe &uncheckedState.shelf }
  }

  private var parts: [Part] {
    @inline(__always) _read { yield unsafe uncheckedState.parts }
    @inline(__always) _modify { yield unsafe &uncheckedState.parts }
  }
  var components: [Int] {
    @inline(__always) _read { yield unsafe uncheckedState.components }
    @inline(__always) _modify { yield unsafe &uncheckedState.components }
  }
  private var directTypes: KnownTypes<any CBOREncodable.Type> {
    @inline(__always) _read { yield unsafe uncheckedState.directTypes }
    @inline(__always) _modify { yield unsafe &uncheckedState.directTypes }
  }

  private var serials: UInt64 = 0
  private(set) var depth = 0
  /// Containers are created by calls that cannot throw: errors are thrown once the value is complete.
  private var failure: EncodingError?
  private var hasFailed = false
  private let sortsKeys: Bool
  let userInfo: [CodingUserInfoKey: any Sendable]
  private var outerPath: [any CodingKey] = []
  private var outerDepth = 0
  private(set) var isPart = false

  /// A component that adds nothing to the coding path.
  static let noComponent = Int.min

  init(sortsKeys: Bool = false, userInfo: [CodingUserInfoKey: any Sendable] = [:]) {
    self.sortsKeys = sortsKeys
    self.userInfo = userInfo
  }

  // MARK: Whole documents

  /// Writes `value` to ``output``.
  func encodeDocument<T: Encodable>(_ value: T) throws {
    try encode(value, component: Self.noComponent)
    if hasFailed { try throwFailure() }
  }

  /// Writes `value` to ``output`` without Codable.
  func encodeDocument<T: CBOREncodable>(directly value: T) throws {
    frame.type = T.self
    components[0] = Self.noComponent
    try write(directly: value)
    if hasFailed { try throwFailure() }
  }

  @inline(never)
  private func throwFailure() throws {
    if let failure { throw failure }
  }

  /// Drops the value and closes every container that may still be held.
  func reset() {
    output.reset()
    depth = 0
    frame.serial = 0
    if shelf.isHeld { letGo() }
    if hasFailed || !parts.isEmpty { forgetMore() }
  }

  @inline(never)
  private func forgetMore() {
    parts = []
    hasFailed = false
    failure = nil
  }

  @inline(never)
  private func letGo() {
    for (_, map) in shelf.takeHeld() { map.owner = self }
  }

  // MARK: Values

  // Values nest on the stack, so as little as possible stays there while an inner value is being written.

  /// Writes `value`, whose key or index in its parent is `component`. On an error, nothing has changed.
  func encode<T: Encodable>(_ value: T, component: Int) throws {
    let direct = DirectType(T.self)
    if direct != .none { return write(value, direct) }
    if let type = directTypes.found(for: T.self, { $0 as? any CBOREncodable.Type }) {
      return try encode(value, as: type, component: component)
    }
    try encodeThroughCodable(value, component: component)
  }

  /// Writes a value by its own `encode(to:)`.
  func encodeThroughCodable<T: Encodable>(_ value: T, component: Int) throws {
    let outer = try push(component, type: T.self)
    do {
      try value.encode(to: encoder)
      try close()
    } catch {
      takeBack(outer)
      throw error
    }
    pop(outer)
  }

  /// The state to restore when a value is complete.
  private struct Outer {
    let frame: Frame
    let partCount: Int
  }

  /// The encoder for the value that has just begun.
  private var encoder: ValueEncoder { ValueEncoder(session: self, serial: frame.serial) }

  /// Writes a value of a type with a form of its own. Separate from ``encode(_:component:)``, to keep that small on the
  /// stack.
  private func write<T: Encodable>(_ value: T, _ type: DirectType) {
    switch type {
    case .none: break
    case .int: write(Int64(same(value, as: Int.self)))
    case .string: write(same(value, as: String.self))
    case .double: write(same(value, as: Double.self))
    case .bool: write(same(value, as: Bool.self))
    case .ints: write(same(value, as: [Int].self))
    case .bytes: write(bytes: same(value, as: [UInt8].self))
    case .date: write(same(value, as: Date.self))
    case .data: write(same(value, as: Data.self))
    case .uuid: write(same(value, as: UUID.self))
    case .url: write(same(value, as: URL.self))
    case .decimal: write(same(value, as: Decimal.self))
    }
  }

  /// Writes a value of a type that does without Codable. Until it is complete, the containers of the values around it are
  /// closed.
  private func encode<T: Encodable, D: CBOREncodable>(_ value: T, as type: D.Type, component: Int) throws {
    let outer = Outer(frame: frame, partCount: parts.count)
    let outerDepth = depth
    components[depth] = component
    serials += 1
    frame = Frame(start: output.count, entries: 0, kind: .scalar, serial: serials, type: type)
    do {
      try write(directly: same(value, as: type))
    } catch {
      rewind(to: frame.start)
      if parts.count > outer.partCount { parts.removeSubrange(outer.partCount...) }
      depth = outerDepth
      frame = outer.frame
      throw error
    }
    frame = outer.frame
  }

  @inline(__always)
  private func write<T: CBOREncodable>(directly value: T) throws {
    let start = output.count
    let outerDepth = depth
    var writer = CBORWriter(self)
    try value.encode(into: &writer)
    writer.checkSession(self)
    guard depth == outerDepth, output.count > start else { throw incomplete() }
  }

  @inline(never)
  private func incomplete() -> EncodingError {
    .invalidValue(
      frame.type,
      .init(codingPath: codingPath, debugDescription: "A value wrote nothing, or left a map or a list open.")
    )
  }

  @inline(never)
  private func tooDeep(_ type: any Any.Type) -> EncodingError {
    .invalidValue(
      type,
      .init(codingPath: codingPath, debugDescription: "Values are nested in more than \(maximumDepth) others.")
    )
  }

  @inline(__always)
  private func push(_ component: Int, type: any Any.Type) throws -> Outer {
    guard depth + outerDepth < maximumDepth else { throw tooDeep(type) }
    let outer = Outer(frame: frame, partCount: parts.count)
    components[depth] = component
    depth += 1
    serials += 1
    frame = Frame(start: output.count, entries: 0, kind: .none, serial: serials, type: type)
    return outer
  }

  @inline(__always)
  private func pop(_ outer: Outer) {
    depth -= 1
    frame = outer.frame
  }

  private func takeBack(_ outer: Outer) {
    rewind(to: frame.start)
    if parts.count > outer.partCount { parts.removeSubrange(outer.partCount...) }
    pop(outer)
  }

  /// Discards what was written from `offset` on.
  func rewind(to offset: Int) {
    output.rewind(to: offset)
  }

  /// Makes the frame a container, or continues it if it already is one of that kind.
  func open(_ kind: Frame.Kind, serial: UInt64) {
    if frame.serial == serial, frame.kind == .none {
      frame.kind = kind
      output.skipByte()
    } else if frame.serial != serial || frame.kind != kind {
      fail()
    }
  }

  /// Throws unless `serial` is that of the current frame, the only one that can be written to.
  @inline(__always)
  func check(_ serial: UInt64) throws {
    guard frame.serial == serial else { throw misuse() }
  }

  /// Throws unless the current frame has this serial and is empty; makes it a scalar.
  @inline(__always)
  func checkScalar(_ serial: UInt64) throws {
    guard frame.serial == serial, frame.kind == .none else { throw misuse() }
    frame.kind = .scalar
  }

  @inline(never)
  private func misuse() -> EncodingError {
    .invalidValue(
      frame.type,
      .init(
        codingPath: codingPath,
        debugDescription:
          "A container was used after its value was complete, while a value inside it was being encoded, "
          + "or beside a container of another kind."
      )
    )
  }

  private func fail() {
    if !hasFailed { failure = misuse() }
    hasFailed = true
  }

  /// Completes the frame: inserts its parts, and sets the count in the head.
  private func close() throws {
    let start = frame.start
    if !parts.isEmpty { try join(from: start) }
    switch frame.kind {
    case .scalar:
      return
    case .none:
      // A value that encodes nothing, such as a struct without fields.
      output.rewind(to: start)
      output.writeByte(MajorType.map)
    case .array:
      setHead(MajorType.array, frame.entries, at: start)
    case .map:
      if sortsKeys, frame.entries > 1 { try sortEntries(frame.entries, from: start + 1) }
      setHead(MajorType.map, frame.entries, at: start)
    }
  }

  @inline(__always)
  private func setHead(_ major: UInt8, _ entries: Int, at start: Int) {
    if entries < 24 {
      output.setByte(major | UInt8(truncatingIfNeeded: entries), at: start)
    } else {
      growHead(major, entries, at: start)
    }
  }

  private func growHead(_ major: UInt8, _ entries: Int, at start: Int) {
    let end = output.count
    writeHead(major, UInt64(entries))
    // The head was written after the entries: keep it aside while they move.
    let head = output.copied(from: end)
    output.rewind(to: end)
    output.makeRoom(at: start + 1, length: head.count - 1)
    output.replace(at: start, by: head)
  }

  /// Sorts the entries of a map by the bytes of their keys.
  private func sortEntries(_ count: Int, from start: Int) throws {
    let reader = output.reader
    var entries: [(key: Range<Int>, end: Int)] = []
    entries.reserveCapacity(count)
    var position = start
    while position < output.count {
      let value = try reader.skip(position)
      let end = try reader.skip(value)
      entries.append((position - start..<value - start, end - start))
      position = end
    }
    let bytes = output.copied(from: start)
    entries.sort { bytes[$0.key].lexicographicallyPrecedes(bytes[$1.key]) }
    output.replace(at: start, by: entries.flatMap { bytes[$0.key.lowerBound..<$0.end] })
  }

  // MARK: Containers of direct values

  /// Goes one level deeper.
  @inline(__always)
  func descend() throws {
    guard depth + outerDepth < maximumDepth else { throw tooDeep(frame.type) }
    depth += 1
  }

  @inline(__always)
  func ascend() {
    depth -= 1
  }

  /// Begins a container whose head is set when it ends; returns its offset.
  @inline(__always)
  func beginContainer() throws -> Int {
    try descend()
    let start = output.count
    output.skipByte()
    return start
  }

  /// Ends a map of `entries` that began at `start`.
  @inline(__always)
  func endMap(_ entries: Int, at start: Int) throws {
    ascend()
    if sortsKeys, entries > 1 { try sortEntries(entries, from: start + 1) }
    setHead(MajorType.map, entries, at: start)
  }

  /// Ends an array of `elements` that began at `start`.
  @inline(__always)
  func endArray(_ elements: Int, at start: Int) {
    ascend()
    setHead(MajorType.array, elements, at: start)
  }

  // MARK: Parts

  /// A session for a container inside the frame, inserted when the frame is complete.
  func part(serial: UInt64, key: (any CodingKey)?) -> EncodingSession {
    let session = EncodingSession(sortsKeys: sortsKeys, userInfo: userInfo)
    session.isPart = true
    session.outerPath = codingPath + (key.map { [$0] } ?? [])
    session.outerDepth = depth + outerDepth
    session.serials = 1
    session.frame.serial = 1
    session.frame.type = frame.type
    if session.outerDepth >= maximumDepth || frame.serial != serial {
      fail()
    } else {
      parts.append(Part(offset: output.count, session: session))
    }
    return session
  }

  private func join(from start: Int) throws {
    while let part = parts.last, part.offset >= start {
      let session = part.session
      try session.close()
      session.frame.serial = 0
      if let failure = session.failure { throw failure }
      output.insert(session.output, at: part.offset)
      parts.removeLast()
    }
  }

  // MARK: Coding path

  var codingPath: [any CodingKey] {
    let reader = output.reader
    return (0..<depth).reduce(into: outerPath) { path, level in
      let component = components[level]
      if component >= 0 {
        if let key = try? reader.key(at: component) { path.append(key) }
      } else if component != Self.noComponent {
        path.append(DocumentKey.index(~component))
      }
    }
  }

  // MARK: Bytes

  /// Writes an item's first byte and argument in the shortest form.
  @inline(__always)
  func writeHead(_ major: UInt8, _ argument: UInt64) {
    if argument < 24 {
      output.writeByte(major | UInt8(truncatingIfNeeded: argument))
    } else {
      writeLongHead(major, argument)
    }
  }

  private func writeLongHead(_ major: UInt8, _ argument: UInt64) {
    if argument <= 0xff {
      output.write(major | 24, UInt8(truncatingIfNeeded: argument))
    } else if argument <= 0xffff {
      output.write(major | 25, UInt16(truncatingIfNeeded: argument))
    } else if argument <= 0xffff_ffff {
      output.write(major | 26, UInt32(truncatingIfNeeded: argument))
    } else {
      output.write(major | 27, argument)
    }
  }
}
