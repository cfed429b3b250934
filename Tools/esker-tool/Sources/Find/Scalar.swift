/// A value of JSON as comparisons see it: numbers compare with numbers, and texts with texts.
enum Scalar: Equatable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  /// UTF-8.
  case text([UInt8])
  /// A list or an object, as it is written.
  case structure([UInt8])

  /// - Parameter json: One value, without space around it.
  init(json: Span<UInt8>) {
    switch json.isEmpty ? 0 : json[0] {
    case UInt8(ascii: "n"): self = .null
    case UInt8(ascii: "t"): self = .bool(true)
    case UInt8(ascii: "f"): self = .bool(false)
    case UInt8(ascii: "["), UInt8(ascii: "{"): self = .structure([UInt8](copying: json))
    case UInt8(ascii: "\""): self = .text(JSONCursor.text(ofString: json).map { Array($0.utf8) } ?? [])
    default:
      let text = json.text
      self = Int64(text).map { .integer($0) } ?? Double(text).map { .number($0) } ?? .null
    }
  }

  static func == (left: Scalar, right: Scalar) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let left), .bool(let right)): left == right
    case (.integer(let left), .integer(let right)): left == right
    case (.text(let left), .text(let right)): left == right
    case (.structure(let left), .structure(let right)): left == right
    default: left.double.map { $0 == right.double } ?? false
    }
  }

  /// Whether something can be less.
  var isOrdered: Bool {
    switch self {
    case .integer, .number, .text: true
    case .null, .bool, .structure: false
    }
  }

  func isLess(than other: Scalar) -> Bool {
    switch (self, other) {
    // Exactly: a double has fewer digits.
    case (.integer(let left), .integer(let right)): return left < right
    case (.text(let left), .text(let right)): return left.lexicographicallyPrecedes(right)
    default:
      guard let left = double, let right = other.double else { return false }
      return left < right
    }
  }

  /// Whether a text has another in it.
  func contains(_ part: Scalar) -> Bool {
    guard case .text(let text) = self, let part = part.textBytes else { return false }
    return part.isEmpty || text.firstRange(of: part) != nil
  }

  private var double: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .number(let number): number
    default: nil
    }
  }

  /// Digits that were given without quotes are text where text is looked for.
  private var textBytes: [UInt8]? {
    switch self {
    case .text(let bytes), .structure(let bytes): bytes
    case .integer(let number): Array("\(number)".utf8)
    case .number(let number): Array("\(number)".utf8)
    case .bool(let flag): Array("\(flag)".utf8)
    case .null: Array("null".utf8)
    }
  }
}
