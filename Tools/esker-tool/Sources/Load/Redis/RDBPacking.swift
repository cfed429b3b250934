/// How small lists, sets, sorted sets and hashes are kept in one string of an RDB file.
enum RDBPacking: Equatable {
  /// Since Redis 7.0.
  case listpack
  /// Before that.
  case ziplist
  /// A set of whole numbers.
  case intset

  /// Calls `body` with each element, numbers as their digits; false if the bytes are not packed in this way.
  func unpack(_ bytes: [UInt8], _ body: ([UInt8]) -> Void) -> Bool {
    var cursor = PackedCursor(bytes)
    switch self {
    case .listpack: return cursor.listpack(body)
    case .ziplist: return cursor.ziplist(body)
    case .intset: return cursor.intset(body)
    }
  }
}

/// A position in packed elements. Each step is nil where the bytes end before.
private struct PackedCursor {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  private mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
    guard count <= bytes.count - position else { return nil }
    defer { position += count }
    return bytes[position..<position + count]
  }

  private mutating func byte() -> UInt8? { take(1)?.first }

  /// A number without a sign, the least significant byte first.
  private mutating func unsigned(_ count: Int) -> Int? {
    take(count)?.reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  /// A number without a sign, the most significant byte first.
  private mutating func bigEndian(_ count: Int) -> Int? {
    take(count)?.reduce(0) { $0 << 8 | Int($1) }
  }

  /// The digits of a number with a sign, the least significant byte first.
  private mutating func number(_ count: Int) -> [UInt8]? {
    guard let bits = take(count)?.reversed().reduce(UInt64(0), { $0 << 8 | UInt64($1) }) else { return nil }
    let shift = UInt64(64 - 8 * count)
    return digits(Int64(bitPattern: bits << shift) >> Int64(shift))
  }

  private func digits(_ number: Int64) -> [UInt8] { Array("\(number)".utf8) }

  private mutating func text(_ count: Int) -> [UInt8]? { take(count).map { Array($0) } }

  private var isAtEnd: Bool { position == bytes.count }

  mutating func intset(_ body: ([UInt8]) -> Void) -> Bool {
    guard let width = unsigned(4), [2, 4, 8].contains(width), let count = unsigned(4),
      bytes.count - position == count * width
    else { return false }
    while !isAtEnd {
      guard let number = number(width) else { return false }
      body(number)
    }
    return true
  }

  // MARK: Listpacks

  mutating func listpack(_ body: ([UInt8]) -> Void) -> Bool {
    guard unsigned(4) == bytes.count, let count = unsigned(2) else { return false }
    var found = 0
    while true {
      let start = position
      guard let first = byte() else { return false }
      if first == 0xFF { return isAtEnd && (count == found || count == 0xFFFF) }
      guard let element = listpackElement(first) else { return false }
      // Behind each element is how long it is, for whoever comes from the end.
      guard take(Self.lengthOfLength(position - start)) != nil else { return false }
      found += 1
      body(element)
    }
  }

  private static func lengthOfLength(_ length: Int) -> Int {
    switch length {
    case ...127: 1
    case ..<16_383: 2
    case ..<2_097_151: 3
    case ..<268_435_455: 4
    default: 5
    }
  }

  private mutating func listpackElement(_ first: UInt8) -> [UInt8]? {
    let low = Int(first)
    switch first {
    case 0..<0x80: return digits(Int64(first))
    case 0x80..<0xC0: return text(low & 0x3F)
    case 0xC0..<0xE0:
      guard let next = byte() else { return nil }
      let number = (low & 0x1F) << 8 | Int(next)
      return digits(Int64(number < 4096 ? number : number - 8192))
    case 0xE0..<0xF0:
      guard let next = byte() else { return nil }
      return text((low & 0x0F) << 8 | Int(next))
    case 0xF0: return unsigned(4).flatMap { text($0) }
    case 0xF1: return number(2)
    case 0xF2: return number(3)
    case 0xF3: return number(4)
    case 0xF4: return number(8)
    default: return nil
    }
  }

  // MARK: Ziplists

  mutating func ziplist(_ body: ([UInt8]) -> Void) -> Bool {
    guard unsigned(4) == bytes.count, unsigned(4) != nil, let count = unsigned(2) else { return false }
    var found = 0
    while true {
      guard let previous = byte() else { return false }
      if previous == 0xFF { return isAtEnd && (count == found || count == 0xFFFF) }
      if previous == 0xFE, take(4) == nil { return false }
      guard let first = byte(), let element = ziplistElement(first) else { return false }
      found += 1
      body(element)
    }
  }

  private mutating func ziplistElement(_ first: UInt8) -> [UInt8]? {
    let low = Int(first & 0x3F)
    switch first {
    case 0..<0x40: return text(low)
    case 0x40..<0x80:
      guard let next = byte() else { return nil }
      return text(low << 8 | Int(next))
    case 0x80: return bigEndian(4).flatMap { text($0) }
    case 0xC0: return number(2)
    case 0xD0: return number(4)
    case 0xE0: return number(8)
    case 0xF0: return number(3)
    case 0xFE: return number(1)
    case 0xF1...0xFD: return digits(Int64(first & 0x0F) - 1)
    default: return nil
    }
  }
}
