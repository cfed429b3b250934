// Optionals and collections, in the forms that they have through Codable.

extension Optional: CBORDecodable where Wrapped: CBORDecodable {
  /// Reads an item that Codable would read, and throws the same `DecodingError` otherwise.
  @inlinable
  public init(from reader: inout CBORReader) throws {
    self = reader.readNull() ? nil : try Wrapped(from: &reader)
  }
}

extension Array: CBORDecodable where Element: CBORDecodable {
  /// Reads an item that Codable would read, and throws the same `DecodingError` otherwise.
  @inlinable
  public init(from reader: inout CBORReader) throws {
    if Element.self == UInt8.self {
      self = same(try reader.readBytes())
      return
    }
    if Element.self == Int.self {
      self = same(try reader.readIntegers())
      return
    }
    self.init()
    var list = try reader.beginList()
    reserveCapacity(list.usualCapacity)
    while !list.isAtEnd { append(try reader.read(in: &list)) }
    try reader.end(list)
  }
}

extension Set: CBORDecodable where Element: CBORDecodable {
  /// Reads an item that Codable would read, and throws the same `DecodingError` otherwise.
  @inlinable
  public init(from reader: inout CBORReader) throws {
    self.init()
    var list = try reader.beginList()
    while !list.isAtEnd { insert(try reader.read(in: &list)) }
    try reader.end(list)
  }
}

extension Dictionary: CBORDecodable where Key: CBORDecodable, Value: CBORDecodable {
  /// Reads an item that Codable would read, and throws the same `DecodingError` otherwise.
  @inlinable
  public init(from reader: inout CBORReader) throws {
    if Key.self == String.self {
      self.init()
      var map = try reader.beginMap()
      while let key = try reader.nextText(in: &map) {
        let value = try Value(from: &reader)
        reader.endDictionaryEntry(isNew: updateValue(value, forKey: same(key)) == nil, in: &map)
      }
      try reader.end(map)
      return
    }
    if Key.self == Int.self {
      self.init()
      var map = try reader.beginMap()
      while let key = try reader.nextInteger(in: &map) {
        let value = try Value(from: &reader)
        reader.endDictionaryEntry(isNew: updateValue(value, forKey: same(key)) == nil, in: &map)
      }
      try reader.end(map)
      return
    }
    if Key.self is any CodingKeyRepresentable.Type {
      self = try reader.readThroughCodable()
      return
    }
    self.init()
    var list = try reader.beginList()
    try reader.checkPairs(in: list)
    while !list.isAtEnd {
      let key: Key = try reader.read(in: &list)
      self[key] = try reader.read(in: &list) as Value
    }
    try reader.end(list)
  }
}
