/// A key, as a terminal sends it.
enum TypedKey: Equatable {
  case text(String)
  case enter, tab, backspace, delete
  case left, right, up, down, home, end, wordLeft, wordRight
  /// With the control key; a letter.
  case control(Character)
  /// With the alt or escape key; a letter.
  case alt(Character)
  case unknown
}

/// Makes keys of the bytes that a terminal sends (ECMA-48, xterm).
struct KeyParser {
  private var bytes: [UInt8] = []

  mutating func add(_ more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }

  /// The next key; nil until all of its bytes are there.
  mutating func next() -> TypedKey? {
    guard let first = bytes.first else { return nil }
    switch first {
    case 0x1B: return escape()
    case 0x0D, 0x0A: return take(1, .enter)
    case 0x09: return take(1, .tab)
    case 0x08, 0x7F: return take(1, .backspace)
    case 0x01...0x1A: return take(1, .control(Character(Unicode.Scalar(first + 0x60))))
    case 0..<0x20: return take(1, .unknown)
    default: return text()
    }
  }

  private mutating func take(_ count: Int, _ key: TypedKey) -> TypedKey {
    bytes.removeFirst(count)
    return key
  }

  /// All text up to the next key of another kind: what is pasted comes in one piece.
  private mutating func text() -> TypedKey? {
    let run = bytes.prefix { $0 >= 0x20 && $0 != 0x7F }
    // The last character may not have come as a whole.
    let whole = run.count == bytes.count ? run.dropLast(Self.beginning(of: run)) : run
    return whole.isEmpty ? nil : take(whole.count, .text(String(decoding: whole, as: UTF8.self)))
  }

  /// How many bytes at the end of a text are the beginning of a character of more.
  private static func beginning(of run: ArraySlice<UInt8>) -> Int {
    for (count, byte) in run.suffix(3).reversed().enumerated() where byte & 0xC0 != 0x80 {
      let length =
        (0xF0...0xF4).contains(byte) ? 4 : (0xE0..<0xF0).contains(byte) ? 3 : (0xC2..<0xE0).contains(byte) ? 2 : 1
      return length > count + 1 ? count + 1 : 0
    }
    return 0
  }

  private mutating func escape() -> TypedKey? {
    guard bytes.count > 1 else { return nil }
    switch bytes[1] {
    case UInt8(ascii: "["), UInt8(ascii: "O"): return sequence()
    case UInt8(ascii: "a")...UInt8(ascii: "z"): return take(2, .alt(Character(Unicode.Scalar(bytes[1]))))
    case 0x7F, 0x08: return take(2, .alt("\u{8}"))
    default: return take(1, .unknown)
    }
  }

  private mutating func sequence() -> TypedKey? {
    guard let last = bytes.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) }) else {
      // None is that long.
      return bytes.count > 16 ? take(bytes.count, .unknown) : nil
    }
    let parameters = String(decoding: bytes[2..<last], as: UTF8.self).split(separator: ";")
    let isWithControl = parameters.count > 1 && ["3", "5"].contains(parameters[1])
    let key: TypedKey =
      switch bytes[last] {
      case UInt8(ascii: "A"): .up
      case UInt8(ascii: "B"): .down
      case UInt8(ascii: "C"): isWithControl ? .wordRight : .right
      case UInt8(ascii: "D"): isWithControl ? .wordLeft : .left
      case UInt8(ascii: "H"): .home
      case UInt8(ascii: "F"): .end
      case UInt8(ascii: "~"):
        switch parameters.first {
        case "1", "7": .home
        case "3": .delete
        case "4", "8": .end
        default: .unknown
        }
      default: .unknown
      }
    return take(last + 1, key)
  }
}
