extension RDBReader {
  /// What becomes of a value.
  enum Value {
    case bytes([UInt8])
    case tooLong
    /// It is of this kind, which is not loaded.
    case notTaken(String)
  }

  /// Reads the value of a key: a string as it is, and what is made of several as JSON.
  mutating func value(_ kind: RDBKind, _ reader: inout LineReader) throws(ToolError) -> Value {
    guard let shape = kind.shape else {
      guard kind == .string else {
        try skip(kind, &reader)
        return .notTaken(kind.name)
      }
      guard case .bytes(let bytes) = try string(&reader) else { return .tooLong }
      return .bytes(bytes)
    }
    var collection = RDBCollection(shape, limit: reader.limit)
    try read(kind, into: &collection, &reader)
    let json = collection.finish()
    if collection.isTooLong { return .tooLong }
    if collection.hasOtherNames, !collection.isDamaged { return .notTaken("non-text \(kind.name)") }
    guard let json else { throw fault("the value of a \(kind.name) is damaged", reader) }
    return .bytes(json)
  }

  private mutating func read(
    _ kind: RDBKind,
    into collection: inout RDBCollection,
    _ reader: inout LineReader
  ) throws(ToolError) {
    guard case .repeated(let parts) = kind.parts else {
      return try add(kind.packing, to: &collection, &reader)
    }
    var left = try count(&reader)
    while left > 0 {
      var packing = kind.packing
      for part in parts {
        switch part {
        case .string: try add(packing, to: &collection, &reader)
        case .length:
          // How the node of a list is kept: as one element, or as several.
          let container = try count(&reader)
          guard container == 1 || container == 2 else { throw fault("a list's node of an unknown kind", reader) }
          if container == 1 { packing = nil }
        case .score: collection.add(score: try score(&reader))
        case .double: collection.add(score: Double(bitPattern: try number(bytes: 8, &reader)))
        }
      }
      left -= 1
    }
  }

  /// Adds a string: an element, or several that are packed into it.
  private mutating func add(
    _ packing: RDBPacking?,
    to collection: inout RDBCollection,
    _ reader: inout LineReader
  ) throws(ToolError) {
    guard case .bytes(let bytes) = try string(&reader) else { return collection.addTooLong() }
    guard let packing else { return collection.add(bytes) }
    guard packing.unpack(bytes, { collection.add($0) }) else { throw fault("packed elements are damaged", reader) }
  }

  /// A score of old: digits, with a length of one byte.
  private mutating func score(_ reader: inout LineReader) throws(ToolError) -> Double {
    let length = try byte(&reader)
    switch length {
    case 253: return .nan
    case 254: return .infinity
    case 255: return -.infinity
    default:
      let range = try take(Int(length), &reader)
      return Double(String(decoding: reader.buffer[range], as: UTF8.self)) ?? .nan
    }
  }
}
