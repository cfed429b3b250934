import Foundation

/// Why bytes are no property list, and at which of them.
struct PropertyListFault: Error, Equatable {
  let offset: Int
  let why: String
}

/// Reads a binary property list: objects that refer to others by their numbers, and at the end a table of where they are.
struct BinaryPropertyList {
  static let magic = Array("bplist0".utf8)

  private let bytes: [UInt8]
  private var offsetSize = 0
  private var referenceSize = 0
  private var objects = 0
  private var table = 0
  /// Objects may be referred to many times: what they come to must not grow beyond what such files hold.
  private var budget: Int

  /// The value at the top.
  static func read(_ bytes: [UInt8]) throws(PropertyListFault) -> PropertyListValue {
    var list = BinaryPropertyList(bytes: bytes)
    let top = try list.readTrailer()
    return try list.object(top, depth: 0)
  }

  private init(bytes: [UInt8]) {
    self.bytes = bytes
    budget = bytes.count * 16 + 1 << 20
  }

  private func fault(_ offset: Int, _ why: String) -> PropertyListFault { PropertyListFault(offset: offset, why: why) }

  /// Reads the last 32 bytes; returns the number of the object at the top.
  private mutating func readTrailer() throws(PropertyListFault) -> Int {
    guard bytes.count >= 8 + 32, bytes.starts(with: Self.magic) else { throw fault(0, "not a binary property list") }
    let end = bytes.count - 32
    (offsetSize, referenceSize) = (Int(bytes[end + 6]), Int(bytes[end + 7]))
    guard 1...8 ~= offsetSize, 1...8 ~= referenceSize else { throw fault(end + 6, "sizes that no property list has") }
    objects = try number(end + 8, 8)
    let top = try number(end + 16, 8)
    table = try number(end + 24, 8)
    guard table >= 8, table <= end, objects <= (end - table) / offsetSize else {
      throw fault(end + 8, "the table of objects is not within the file")
    }
    return top
  }

  /// An unsigned number of so many bytes, the most significant first.
  private func number(_ offset: Int, _ count: Int) throws(PropertyListFault) -> Int {
    try require(offset, count)
    var number: UInt64 = 0
    for byte in bytes[offset..<offset + count] {
      guard number >> 56 == 0 else { throw fault(offset, "a number that is too large") }
      number = number << 8 | UInt64(byte)
    }
    guard let number = Int(exactly: number) else { throw fault(offset, "a number that is too large") }
    return number
  }

  private func require(_ offset: Int, _ count: Int) throws(PropertyListFault) {
    guard offset >= 0, count >= 0, offset <= bytes.count, count <= bytes.count - offset else {
      throw fault(min(max(0, offset), bytes.count), "an object ends behind the file")
    }
  }

  private mutating func spend(_ cost: Int, at offset: Int) throws(PropertyListFault) {
    guard cost < budget else { throw fault(offset, "objects that refer to each other more often than such files do") }
    budget -= cost
  }

  private mutating func object(_ number: Int, depth: Int) throws(PropertyListFault) -> PropertyListValue {
    guard number < objects else { throw fault(table, "an object that the file does not have") }
    let offset = try self.number(table + number * offsetSize, offsetSize)
    try spend(1, at: offset)
    try require(offset, 1)
    let (kind, low) = (bytes[offset] >> 4, Int(bytes[offset] & 15))
    switch (kind, low) {
    case (0, 8): return .flag(false)
    case (0, 9): return .flag(true)
    case (1, 0...4): return try integer(offset + 1, 1 << low)
    case (2, 2): return .real(Double(Float(bitPattern: UInt32(try self.number(offset + 1, 4)))))
    case (2, 3): return .real(try real(offset + 1))
    case (3, 3): return .date(Date(timeIntervalSinceReferenceDate: try real(offset + 1)))
    case (4, _):
      let range = try range(offset, low, unit: 1)
      return .data(Data(bytes[range]))
    case (5, _), (6, _): return .text(try text(offset, low, isWide: kind == 6))
    // What NSKeyedArchiver refers by.
    case (8, _): return .integer(Int64(try self.number(offset + 1, min(low + 1, 8))))
    case (10, _), (12, _):
      let members = try references(offset, low, 1, depth)
      var values: [PropertyListValue] = []
      for member in members { values.append(try object(member, depth: depth + 1)) }
      return .list(values)
    case (13, _): return .dictionary(try dictionary(offset, low, depth))
    default: throw fault(offset, "an object of an unknown kind")
    }
  }

  private func integer(_ offset: Int, _ count: Int) throws(PropertyListFault) -> PropertyListValue {
    try require(offset, count)
    // Only those of eight bytes and more have a sign.
    guard count >= 8 else { return .integer(Int64(try number(offset, count))) }
    let pattern = bytes[offset..<offset + count].reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
    if count == 8 { return .integer(Int64(bitPattern: UInt64(pattern))) }
    if let number = Int64(exactly: Int128(bitPattern: pattern)) { return .integer(number) }
    guard let number = UInt64(exactly: pattern) else { throw fault(offset, "a number that is too large") }
    return .unsigned(number)
  }

  private func real(_ offset: Int) throws(PropertyListFault) -> Double {
    try require(offset, 8)
    return Double(bitPattern: bytes[offset..<offset + 8].reduce(0) { $0 << 8 | UInt64($1) })
  }

  private mutating func text(_ offset: Int, _ low: Int, isWide: Bool) throws(PropertyListFault) -> String {
    let range = try range(offset, low, unit: isWide ? 2 : 1)
    let text =
      if isWide {
        String(
          validating: stride(from: range.lowerBound, to: range.upperBound, by: 2).map {
            UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
          },
          as: UTF16.self
        )
      } else {
        String(validating: bytes[range], as: UTF8.self)
      }
    guard let text else { throw fault(offset, "text that is not well-formed") }
    return text
  }

  /// Where the contents of an object are, whose length is in its first byte or behind it.
  private mutating func range(_ offset: Int, _ low: Int, unit: Int) throws(PropertyListFault) -> Range<Int> {
    var (start, count) = (offset + 1, low)
    if low == 15 {
      try require(start, 1)
      guard bytes[start] >> 4 == 1, bytes[start] & 15 <= 3 else { throw fault(start, "a length that is no number") }
      let size = 1 << Int(bytes[start] & 15)
      count = try number(start + 1, size)
      start += 1 + size
    }
    guard count <= bytes.count / unit else { throw fault(offset, "an object ends behind the file") }
    try require(start, count * unit)
    try spend(count * unit, at: offset)
    return start..<start + count * unit
  }

  /// The numbers of the objects that a list or a dictionary has.
  private mutating func references(
    _ offset: Int,
    _ low: Int,
    _ perMember: Int,
    _ depth: Int
  ) throws(PropertyListFault) -> [Int] {
    guard depth < PropertyListValue.maximumDepth else {
      throw fault(offset, "lists that are too deep within each other")
    }
    let range = try range(offset, low, unit: referenceSize * perMember)
    var members: [Int] = []
    for place in stride(from: range.lowerBound, to: range.upperBound, by: referenceSize) {
      members.append(try number(place, referenceSize))
    }
    return members
  }

  /// First the keys, then as many values.
  private mutating func dictionary(
    _ offset: Int,
    _ low: Int,
    _ depth: Int
  ) throws(PropertyListFault) -> [String: PropertyListValue] {
    let members = try references(offset, low, 2, depth)
    let count = members.count / 2
    var dictionary: [String: PropertyListValue] = [:]
    for index in 0..<count {
      guard case .text(let key) = try object(members[index], depth: depth + 1) else {
        throw fault(offset, "a key that is no text")
      }
      guard dictionary.updateValue(try object(members[count + index], depth: depth + 1), forKey: key) == nil else {
        throw fault(offset, "a key that occurs twice")
      }
    }
    return dictionary
  }
}
