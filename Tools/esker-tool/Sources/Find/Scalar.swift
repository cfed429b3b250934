import Foundation

/// A value of JSON as comparisons see it: numbers compare with numbers, instants with instants, and texts with texts.
enum Scalar: Equatable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  /// The microseconds since 1970, and as it is shown.
  case instant(Double, [UInt8])
  /// UTF-8.
  case text([UInt8])
  /// A list or an object, as it is written.
  case structure([UInt8])

  /// - Parameters:
  ///   - json: One value, without space around it.
  ///   - isMarked: Whether what JSON has no type for is marked; see ``CBORText/Mark``.
  init(json: Span<UInt8>, isMarked: Bool = false) {
    switch json.isEmpty ? 0 : json[0] {
    case UInt8(ascii: "n"): self = .null
    case UInt8(ascii: "t"): self = .bool(true)
    case UInt8(ascii: "f"): self = .bool(false)
    case UInt8(ascii: "{") where isMarked: self = Self.marked(json) ?? .structure([UInt8](copying: json))
    case UInt8(ascii: "["), UInt8(ascii: "{"): self = .structure([UInt8](copying: json))
    case UInt8(ascii: "\""): self = .text(JSONCursor.text(ofString: json).map { Array($0.utf8) } ?? [])
    default: self = Self.number(json.text) ?? .null
    }
  }

  private static func marked(_ json: Span<UInt8>) -> Scalar? {
    guard let (mark, text) = CBORText.Mark.read(json) else { return nil }
    switch mark {
    case .date: return parseInstant(text).map { .instant(microseconds(of: $0), Array(text.utf8)) }
    case .decimal, .float: return number(text)
    case .bytes, .uuid, .url: return .text(Array(text.utf8))
    }
  }

  static func number(_ text: String) -> Scalar? { Int64(text).map { .integer($0) } ?? Double(text).map { .number($0) } }

  static func == (left: Scalar, right: Scalar) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let left), .bool(let right)): left == right
    case (.integer(let left), .integer(let right)): left == right
    case (.instant(let left, _), .instant(let right, _)): left == right
    case (.text(let left), .text(let right)): left == right
    case (.structure(let left), .structure(let right)): left == right
    default: left.double.map { $0 == right.double } ?? false
    }
  }

  /// The same with texts in lower case.
  var lowercased: Scalar {
    switch self {
    case .text(let text): .text(esker_tool.lowercased(text))
    case .instant(let time, let text): .instant(time, esker_tool.lowercased(text))
    default: self
    }
  }

  /// Whether something can be less.
  var isOrdered: Bool {
    switch self {
    case .integer, .number, .instant, .text: true
    case .null, .bool, .structure: false
    }
  }

  func isLess(than other: Scalar) -> Bool {
    switch (self, other) {
    // Exactly: a double has fewer digits.
    case (.integer(let left), .integer(let right)): return left < right
    case (.instant(let left, _), .instant(let right, _)): return left < right
    case (.text(let left), .text(let right)): return left.lexicographicallyPrecedes(right)
    default:
      guard let left = double, let right = other.double else { return false }
      return left < right
    }
  }

  /// Whether a text, or an instant as it is shown, has another in it.
  func contains(_ part: Scalar) -> Bool {
    switch self {
    case .text(let text), .instant(_, let text):
      let part = part.textBytes
      return part.isEmpty || text.firstRange(of: part) != nil
    default: return false
    }
  }

  private var double: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .number(let number): number
    default: nil
    }
  }

  /// Digits that were given without quotes are text where text is looked for.
  private var textBytes: [UInt8] {
    switch self {
    case .text(let bytes), .structure(let bytes), .instant(_, let bytes): bytes
    case .integer(let number): Array("\(number)".utf8)
    case .number(let number): Array("\(number)".utf8)
    case .bool(let flag): Array("\(flag)".utf8)
    case .null: Array("null".utf8)
    }
  }
}

/// What values are compared with: what was given, and what it is beside an instant, a UUID or a number.
struct Operand {
  let given: Scalar
  private var instant: Scalar?
  /// In upper case.
  private var uuid: Scalar?
  private var number: Scalar?

  init(_ given: Scalar) {
    self.given = given
    guard case .text(let bytes) = given else { return }
    let text = String(decoding: bytes, as: UTF8.self)
    instant = microseconds(ofInstant: text).map { .instant($0, bytes) }
    uuid = UUID(uuidString: text).map { .text(Array($0.uuidString.utf8)) }
    number = Scalar.number(text)
  }

  /// A value and what it is compared with, both of the same type if they can be.
  func beside(_ value: Scalar) -> (value: Scalar, operand: Scalar) {
    switch value {
    case .instant: return (value, instant ?? given)
    case .integer, .number: return (value, number ?? given)
    case .text(let bytes) where instant != nil:
      let found = microseconds(ofInstant: String(decoding: bytes, as: UTF8.self))
      guard let instant, let found else { return (value, given) }
      return (.instant(found, bytes), instant)
    case .text(let bytes) where uuid != nil:
      guard let uuid, let found = UUID(uuidString: String(decoding: bytes, as: UTF8.self)) else {
        return (value, given)
      }
      return (.text(Array(found.uuidString.utf8)), uuid)
    default: return (value, given)
    }
  }
}
