import Foundation

/// One value on its way into bytes: the bytes so far and the container that is open.
///
/// Codable has no call for "this container is complete", but a value's `encode(to:)` returns. Between its start and its
/// return a value is a *frame*: the first container it opens writes a head of one byte, entries follow, and the end of
/// the frame sets the count, moving the entries where the head needs more than a byte. Values inside values save and
/// restore the frame on the stack, so only the innermost can be written to; ``Frame/serial`` refuses the others.
///
/// The properties are unchecked for exclusive access: no call between two accesses of a property leaves this class.
final class EncodingSession {
  /// The value that is being encoded.
  struct Frame {
    enum Kind { case none, scalar, array, map }

    /// Where its head is.
    var start = 0
    /// How many elements or pairs have been written.
    var entries = 0
    var kind = Kind.none
    /// Never the same twice; 0 for none.
    var serial: UInt64 = 0
    var type: any Any.Type = Never.self
  }

  /// A container made by `nestedContainer` or `superEncoder`, which may be written to for as long as its frame lives.
  private struct Part {
    let offset: Int
    let session: EncodingSession
  }

  @exclusivity(unchecked) private(set) var bytes = UnsafeMutableRawPointer.allocate(byteCount: 512, alignment: 16)
  @exclusivity(unchecked) private var capacity = 512
  @exclusivity(unchecked) private(set) var count = 0
  @exclusivity(unchecked) var frame = Frame()
  @exclusivity(unchecked) private var serials: UInt64 = 0
  @exclusivity(unchecked) private var depth = 0
  /// For each open frame the offset of its key, the complement of its place in an array, or ``noComponent``.
  @exclusivity(unchecked) private let components = UnsafeMutablePointer<Int>.allocate(capacity: maximumDepth)
  @exclusivity(unchecked) private var parts: [Part] = []
  /// Containers are made by calls that cannot throw: what was wrong is thrown when the value is complete.
  @exclusivity(unchecked) private var failure: EncodingError?
  @exclusivity(unchecked) private var hasFailed = false
  private let sortsKeys: Bool
  let userInfo: [CodingUserInfoKey: any Sendable]
  @exclusivity(unchecked) private var outerPath: [any CodingKey] = []
  @exclusivity(unchecked) private var outerDepth = 0
  @exclusivity(unchecked) private(set) var isPart = false
  @exclusivity(unchecked) var shelf = ContainerShelf<MapWriting>()

  /// A component that adds nothing to the coding path.
  static let noComponent = Int.min

  init(sortsKeys: Bool = false, userInfo: [CodingUserInfoKey: any Sendable] = [:]) {
    self.sortsKeys = sortsKeys
    self.userInfo = userInfo
  }

  deinit {
    bytes.deallocate()
    components.deallocate()
  }

  // MARK: Whole documents

  /// The bytes of `value`, valid until the next write.
  func encodeDocument<T: Encodable>(_ value: T) throws -> UnsafeRawBufferPointer {
    try encode(value, component: Self.noComponent)
    if hasFailed, let failure { throw failure }
    return written
  }

  /// What has been written, valid until the next write.
  var written: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bytes, count: count) }

  /// Forgets the value and closes every container that may still be held.
  func reset() {
    count = 0
    depth = 0
    frame.serial = 0
    if shelf.isHeld { letGo() }
    if !parts.isEmpty { parts = [] }
    if hasFailed {
      hasFailed = false
      failure = nil
    }
    if capacity > 64 << 10 {
      bytes.deallocate()
      bytes = .allocate(byteCount: 512, alignment: 16)
      capacity = 512
    }
  }

  @inline(never)
  private func letGo() {
    for (_, map) in shelf.takeHeld() { map.owner = self }
  }

  // MARK: Values

  /// Writes `value`, whose place in its parent is `component`. If it throws, everything is as it was.
  func encode<T: Encodable>(_ value: T, component: Int) throws {
    switch DirectType(T.self) {
    case .none: break
    case .int: return write(Int64(unsafeBitCast(value, to: Int.self)))
    case .string: return write(unsafeBitCast(value, to: String.self))
    case .double: return write(unsafeBitCast(value, to: Double.self))
    case .bool: return write(unsafeBitCast(value, to: Bool.self))
    case .ints: return write(unsafeBitCast(value, to: [Int].self))
    case .bytes: return unsafeBitCast(value, to: [UInt8].self).withUnsafeBytes(writeBytes)
    case .date: return write(unsafeBitCast(value, to: Date.self))
    case .data: return write(unsafeBitCast(value, to: Data.self))
    case .uuid: return write(unsafeBitCast(value, to: UUID.self))
    case .url: return write(unsafeBitCast(value, to: URL.self))
    case .decimal: return write(unsafeBitCast(value, to: Decimal.self))
    }
    let saved = frame
    let partCount = parts.count
    try push(component, type: T.self)
    do {
      try value.encode(to: ValueEncoder(session: self, serial: frame.serial))
      try close()
    } catch {
      rewind(to: frame.start)
      if parts.count > partCount { parts.removeSubrange(partCount...) }
      depth -= 1
      frame = saved
      throw error
    }
    depth -= 1
    frame = saved
  }

  private func push(_ component: Int, type: any Any.Type) throws {
    guard depth + outerDepth < maximumDepth else {
      throw EncodingError.invalidValue(
        type,
        .init(codingPath: codingPath, debugDescription: "Values are nested in more than \(maximumDepth) others.")
      )
    }
    components[depth] = component
    depth += 1
    serials += 1
    frame = Frame(start: count, entries: 0, kind: .none, serial: serials, type: type)
  }

  /// Takes back what was written from `offset` on.
  func rewind(to offset: Int) {
    count = offset
  }

  /// Makes the frame a container, or goes on with the one it is.
  func open(_ kind: Frame.Kind, serial: UInt64) {
    if frame.serial == serial, frame.kind == .none {
      frame.kind = kind
      reserve(1)
      count += 1
    } else if frame.serial != serial || frame.kind != kind {
      fail()
    }
  }

  /// Throws unless `serial` is the frame's, which alone can be written to.
  @inline(__always)
  func check(_ serial: UInt64) throws {
    guard frame.serial == serial else { throw misuse() }
  }

  /// Throws unless the frame is `serial`'s and has nothing in it yet; it is a scalar from now on.
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

  /// Completes the frame: parts are put in their places, and the head gets its count.
  private func close() throws {
    let start = frame.start
    if !parts.isEmpty { try join(from: start) }
    switch frame.kind {
    case .scalar:
      return
    case .none:
      // A value that encodes nothing, such as a struct without fields.
      reserve(1)
      bytes.storeBytes(of: Major.map, toByteOffset: start, as: UInt8.self)
      count = start + 1
    case .array:
      setHead(Major.array, at: start)
    case .map:
      if sortsKeys, frame.entries > 1 { try sortEntries(from: start + 1) }
      setHead(Major.map, at: start)
    }
  }

  @inline(__always)
  private func setHead(_ major: UInt8, at start: Int) {
    if frame.entries < 24 {
      bytes.storeBytes(of: major | UInt8(truncatingIfNeeded: frame.entries), toByteOffset: start, as: UInt8.self)
    } else {
      growHead(major, at: start)
    }
  }

  private func growHead(_ major: UInt8, at start: Int) {
    let end = count
    writeHead(major, UInt64(frame.entries))
    let extra = count - end - 1
    reserve(extra)
    // The head was written behind the entries: keep it aside while they move.
    let head = [UInt8](UnsafeRawBufferPointer(start: bytes + end, count: extra + 1))
    (bytes + start + extra + 1).copyMemory(from: bytes + start + 1, byteCount: end - start - 1)
    UnsafeMutableRawBufferPointer(start: bytes + start, count: head.count).copyBytes(from: head)
    count = end + extra
  }

  /// Orders the entries of a map by the bytes of their keys.
  private func sortEntries(from start: Int) throws {
    let reader = Reader(base: UnsafeRawPointer(bytes), count: count)
    var entries: [(key: Range<Int>, end: Int)] = []
    entries.reserveCapacity(frame.entries)
    var position = start
    while position < count {
      let value = try reader.skip(position)
      let end = try reader.skip(value)
      entries.append((position..<value, end))
      position = end
    }
    entries.sort { written[$0.key].lexicographicallyPrecedes(written[$1.key]) }
    let sorted = entries.flatMap { written[$0.key.lowerBound..<$0.end] }
    UnsafeMutableRawBufferPointer(start: bytes + start, count: sorted.count).copyBytes(from: sorted)
  }

  // MARK: Parts

  /// A session for a container inside the frame, which takes its place when the frame is complete.
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
      parts.append(Part(offset: count, session: session))
    }
    return session
  }

  private func join(from start: Int) throws {
    while let part = parts.last, part.offset >= start {
      let session = part.session
      try session.close()
      session.frame.serial = 0
      if let failure = session.failure { throw failure }
      reserve(session.count)
      let place = bytes + part.offset
      (place + session.count).copyMemory(from: place, byteCount: count - part.offset)
      place.copyMemory(from: session.bytes, byteCount: session.count)
      count += session.count
      parts.removeLast()
    }
  }

  // MARK: Coding path

  var codingPath: [any CodingKey] {
    let reader = Reader(base: UnsafeRawPointer(bytes), count: count)
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

  @inline(__always)
  func reserve(_ extra: Int) {
    if capacity - count < extra { grow(extra) }
  }

  @inline(never)
  private func grow(_ extra: Int) {
    let larger = max(capacity * 2, count + extra)
    let grown = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
    grown.copyMemory(from: bytes, byteCount: count)
    bytes.deallocate()
    bytes = grown
    capacity = larger
  }

  @inline(__always)
  func writeByte(_ byte: UInt8) {
    reserve(1)
    bytes.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
    count += 1
  }

  /// Writes `value` in network order behind a first byte.
  @inline(__always)
  func write<I: FixedWidthInteger>(_ initial: UInt8, _ value: I) {
    reserve(1 + MemoryLayout<I>.size)
    bytes.storeBytes(of: initial, toByteOffset: count, as: UInt8.self)
    bytes.storeBytes(of: value.bigEndian, toByteOffset: count + 1, as: I.self)
    count += 1 + MemoryLayout<I>.size
  }

  /// Writes an item's first byte and argument in the shortest form.
  @inline(__always)
  func writeHead(_ major: UInt8, _ argument: UInt64) {
    if argument < 24 {
      writeByte(major | UInt8(truncatingIfNeeded: argument))
    } else {
      writeLongHead(major, argument)
    }
  }

  private func writeLongHead(_ major: UInt8, _ argument: UInt64) {
    if argument <= 0xff {
      write(major | 24, UInt8(truncatingIfNeeded: argument))
    } else if argument <= 0xffff {
      write(major | 25, UInt16(truncatingIfNeeded: argument))
    } else if argument <= 0xffff_ffff {
      write(major | 26, UInt32(truncatingIfNeeded: argument))
    } else {
      write(major | 27, argument)
    }
  }

  @inline(__always)
  func append(_ buffer: UnsafeRawBufferPointer) {
    guard let source = buffer.baseAddress else { return }
    reserve(buffer.count)
    (bytes + count).copyMemory(from: source, byteCount: buffer.count)
    count += buffer.count
  }

  /// Appends a first byte and `length` bytes behind it.
  @inline(__always)
  func append(_ initial: UInt8, _ source: UnsafeRawPointer, _ length: Int) {
    reserve(1 + length)
    bytes.storeBytes(of: initial, toByteOffset: count, as: UInt8.self)
    (bytes + count + 1).copyMemory(from: source, byteCount: length)
    count += 1 + length
  }

  /// Appends a row of ``KeySpellings``, of which `length` bytes count.
  @inline(__always)
  func append(row: UnsafeRawPointer, _ length: Int) {
    reserve(KeySpellings.width)
    let target = bytes + count
    target.storeBytes(of: row.load(as: SIMD16<UInt8>.self), as: SIMD16<UInt8>.self)
    if length > 16 {
      target.storeBytes(
        of: row.load(fromByteOffset: 16, as: SIMD16<UInt8>.self),
        toByteOffset: 16,
        as: SIMD16<UInt8>.self
      )
    }
    count += length
  }
}
