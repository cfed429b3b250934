extension DecodingSession {
  /// An array of integers, the commonest array of all, without a call of Codable's for each.
  @inline(never)
  func integers(at offset: Int) throws -> [Int] {
    var container = try UnkeyedDecoding(session: self, start: offset)
    var integers: [Int] = []
    // The count has been checked against the bytes there are.
    integers.reserveCapacity(container.count ?? 0)
    while !container.isAtEnd { integers.append(try container.decode(Int.self)) }
    next = container.end
    return integers
  }

  /// A byte string, or an array of small numbers as a writer without byte strings has it.
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
