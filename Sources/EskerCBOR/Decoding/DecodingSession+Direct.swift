extension DecodingSession {
  /// Reads values of the types that have a form of their own, or that Codable's generic containers ask for one by one;
  /// nil for all others.
  @inline(__always)
  func readDirectly<T>(_ type: T.Type, at offset: Int) throws -> T? {
    if type == Int.self {
      return unsafeBitCast(try integer(Int.self, at: offset), to: T.self)
    }
    if type == String.self {
      return unsafeBitCast(try text(at: offset), to: T.self)
    }
    if type == Double.self {
      return unsafeBitCast(try double(at: offset), to: T.self)
    }
    if type == [UInt8].self {
      return unsafeBitCast(try byteArray(at: offset), to: T.self)
    }
    return try readFoundation(type, at: offset)
  }

  /// A byte string, or an array of small numbers as a writer without byte strings has it.
  private func byteArray(at offset: Int) throws -> [UInt8] {
    if let bytes = try bytes(at: offset) { return bytes }
    var container = try ValueDecoder(session: self, start: offset).unkeyedContainer()
    var bytes: [UInt8] = []
    while !container.isAtEnd { bytes.append(try container.decode(UInt8.self)) }
    next = try skip(offset)
    return bytes
  }
}
