extension DecodingSession {
  /// An array of integers, the most common array, without a Codable call per element.
  @inline(never)
  func integers(at offset: Int) throws -> [Int] {
    var container = try UnkeyedDecoding(session: self, start: offset)
    var integers: [Int] = []
    // The count has been checked against the number of bytes left.
    integers.reserveCapacity(container.count ?? 0)
    while !container.isAtEnd { integers.append(try container.decode(Int.self)) }
    next = container.end
    return integers
  }

  /// A byte string, or an array of small numbers from a writer without byte strings.
  func byteArray(at offset: Int) throws -> [UInt8] {
    if let bytes = try bytes(at: offset) { return bytes }
    var container = try UnkeyedDecoding(session: self, start: offset)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(container.count ?? 0)
    while !container.isAtEnd { bytes.append(try container.decode(UInt8.self)) }
    next = container.end
    return bytes
  }
}
