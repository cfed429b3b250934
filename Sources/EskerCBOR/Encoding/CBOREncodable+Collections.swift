// Optionals and collections, in the forms that they have through Codable.

extension Optional: CBOREncodable where Wrapped: CBOREncodable {
  /// Writes the item that Codable would write.
  @inlinable
  public func encode(into writer: inout CBORWriter) throws {
    guard let self else { return writer.writeNull() }
    try self.encode(into: &writer)
  }
}

extension Array: CBOREncodable where Element: CBOREncodable {
  /// Writes the item that Codable would write.
  @inlinable
  public func encode(into writer: inout CBORWriter) throws {
    if Element.self == UInt8.self { return writer.write(bytes: same(self)) }
    if Element.self == Int.self { return writer.write(integers: same(self)) }
    try writer.beginElements(count)
    for index in indices {
      writer.element(index)
      try self[index].encode(into: &writer)
    }
    writer.endElements()
  }
}

extension Set: CBOREncodable where Element: CBOREncodable {
  /// Writes the item that Codable would write.
  @inlinable
  public func encode(into writer: inout CBORWriter) throws {
    try writer.beginElements(count)
    for (index, element) in enumerated() {
      writer.element(index)
      try element.encode(into: &writer)
    }
    writer.endElements()
  }
}

/// A map if the keys are `String` or `Int`, otherwise a list of keys and values in turns, as Codable does.
extension Dictionary: CBOREncodable where Key: CBOREncodable, Value: CBOREncodable {
  /// Writes the item that Codable would write.
  @inlinable
  public func encode(into writer: inout CBORWriter) throws {
    if Key.self == String.self || Key.self == Int.self {
      var map = try writer.beginMap()
      for (key, value) in self {
        if Key.self == String.self {
          writer.write(text: same(key), in: &map)
        } else {
          writer.write(integer: same(key), in: &map)
        }
        try value.encode(into: &writer)
      }
      return try writer.end(map)
    }
    // Keys with coding keys of their own: the entries of a map, by names that only Codable asks for.
    if Key.self is any CodingKeyRepresentable.Type { return try writer.writeThroughCodable(self) }
    try writer.beginElements(2 * count)
    var index = 0
    for (key, value) in self {
      writer.element(index)
      try key.encode(into: &writer)
      writer.element(index + 1)
      try value.encode(into: &writer)
      index += 2
    }
    writer.endElements()
  }
}

extension CBORWriter {
  @usableFromInline
  mutating func write(bytes: [UInt8]) {
    withSession { $0.write(bytes: bytes) }
  }

  @usableFromInline
  mutating func write(integers: [Int]) {
    withSession { $0.write(integers) }
  }

  /// Writes a dictionary's key, whose value must follow.
  @usableFromInline
  mutating func write(text: String, in map: inout Map) {
    begin(in: &map) { $0.write(text) }
  }

  /// Writes a dictionary's key, whose value must follow.
  @usableFromInline
  mutating func write(integer: Int, in map: inout Map) {
    begin(in: &map) { $0.write(Int64(integer)) }
  }

  @usableFromInline
  mutating func writeThroughCodable<T: Encodable>(_ value: T) throws {
    try withSession { session in
      try session.encodeThroughCodable(value, component: session.components[session.depth])
    }
  }
}
