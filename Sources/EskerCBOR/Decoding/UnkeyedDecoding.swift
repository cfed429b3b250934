/// Reads the elements of an array.
///
/// Three words, so that the existential that Codable requires needs no allocation: offsets and counts have 32 bits.
struct UnkeyedDecoding: UnkeyedDecodingContainer {
  /// The largest document in bytes.
  static let maximumOffset = Int(Int32.max)

  private let session: DecodingSession
  private let start: UInt32
  private var position: UInt32
  private var index: UInt32 = 0
  /// Twice the number of elements, plus one if the array's length is indefinite.
  private let doubleCount: UInt32

  init(session: DecodingSession, start: Int) throws {
    let (head, count) = try session.arrayHead(at: start)
    self.doubleCount = UInt32(truncatingIfNeeded: count) << 1 | (head.isIndefinite ? 1 : 0)
    self.session = session
    self.start = UInt32(truncatingIfNeeded: start)
    self.position = UInt32(truncatingIfNeeded: head.end)
    noteEnd()
  }

  var codingPath: [any CodingKey] { session.codingPath(to: Int(start)) }
  var count: Int? { Int(doubleCount >> 1) }
  var currentIndex: Int { Int(index) }
  var isAtEnd: Bool { index == doubleCount >> 1 }

  /// The offset after the array, once all elements have been read.
  var end: Int { Int(position) + Int(doubleCount & 1) }

  /// The offset of the next element.
  @inline(__always)
  private func current(_ type: any Any.Type) throws -> Int {
    guard !isAtEnd else { throw atEnd(type) }
    session.place.start = Int(position)
    session.place.component =
      session.frame.start == Int(start) ? ~Int(index) : DecodingSession.Place.unknown
    return Int(position)
  }

  @inline(__always)
  private mutating func element<T>(_ value: T) -> T {
    position = UInt32(truncatingIfNeeded: session.next)
    index += 1
    noteEnd()
    return value
  }

  @inline(__always)
  private func noteEnd() {
    if isAtEnd { session.found(end, ofItemAt: Int(start)) }
  }

  @inline(never)
  private func atEnd(_ type: any Any.Type) -> DecodingError {
    .valueNotFound(
      type,
      .init(
        codingPath: codingPath + [DocumentKey.index(currentIndex)],
        debugDescription:
          "The array has no more than \(currentIndex) elements. (At byte \(position) of \(session.reader.count).)"
      )
    )
  }

  mutating func decodeNil() throws -> Bool {
    let isNull = try session.isNull(at: try current(Never?.self))
    return isNull ? element(true) : false
  }

  mutating func decode(_ type: Bool.Type) throws -> Bool { element(try session.bool(at: try current(type))) }
  mutating func decode(_ type: String.Type) throws -> String { element(try session.text(at: try current(type))) }
  mutating func decode(_ type: Double.Type) throws -> Double { element(try session.double(at: try current(type))) }
  mutating func decode(_ type: Float.Type) throws -> Float { element(try session.float(at: try current(type))) }
  mutating func decode(_ type: Int.Type) throws -> Int { element(try session.integer(type, at: try current(type))) }
  mutating func decode(_ type: Int8.Type) throws -> Int8 { element(try session.integer(type, at: try current(type))) }
  mutating func decode(_ type: Int16.Type) throws -> Int16 { element(try session.integer(type, at: try current(type))) }
  mutating func decode(_ type: Int32.Type) throws -> Int32 { element(try session.integer(type, at: try current(type))) }
  mutating func decode(_ type: Int64.Type) throws -> Int64 { element(try session.integer(type, at: try current(type))) }
  mutating func decode(_ type: Int128.Type) throws -> Int128 {
    element(try session.integer(type, at: try current(type)))
  }
  mutating func decode(_ type: UInt.Type) throws -> UInt { element(try session.integer(type, at: try current(type))) }
  mutating func decode(_ type: UInt8.Type) throws -> UInt8 { element(try session.integer(type, at: try current(type))) }
  mutating func decode(_ type: UInt16.Type) throws -> UInt16 {
    element(try session.integer(type, at: try current(type)))
  }
  mutating func decode(_ type: UInt32.Type) throws -> UInt32 {
    element(try session.integer(type, at: try current(type)))
  }
  mutating func decode(_ type: UInt64.Type) throws -> UInt64 {
    element(try session.integer(type, at: try current(type)))
  }
  mutating func decode(_ type: UInt128.Type) throws -> UInt128 {
    element(try session.integer(type, at: try current(type)))
  }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    element(try session.decode(type, at: try current(type)))
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try pass().container(keyedBy: type)
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try pass().unkeyedContainer()
  }

  mutating func superDecoder() throws -> any Decoder {
    try pass()
  }

  /// A decoder for the next element, which is then skipped.
  private mutating func pass() throws -> ValueDecoder {
    let offset = try current((any Decoder).self)
    session.next = try session.skip(offset)
    return element(ValueDecoder(session: session, start: offset))
  }
}

extension DecodingSession {
  /// The head of the array at `start`, and the number of its elements.
  @inline(__always)
  func arrayHead(at start: Int) throws -> (ItemReader.Head, count: Int) {
    let head = try head(at: start)
    guard head.major == MajorType.array else { throw mismatch([Any].self, at: start) }
    do { return (head, try reader.items(head)) } catch { throw decodingError(error) }
  }
}
