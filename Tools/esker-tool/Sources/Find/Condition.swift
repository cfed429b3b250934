import ArgumentParser

/// What a value must be to be chosen: a path into it, a comparison, and what is there, as in `city = Wien` or `size >= 100`.
struct Condition: ExpressibleByArgument {
  enum Comparison: String, CaseIterable {
    // Longer ones before those that they begin with.
    case notEqual = "!="
    case atMost = "<="
    case atLeast = ">="
    case same = "=="
    case equal = "="
    case less = "<"
    case more = ">"
    case contains = "~"
  }

  let path: ValuePath
  let comparison: Comparison
  private(set) var operand: Operand
  /// Whether upper case is taken for lower case.
  private var ignoresCase = false

  /// Nil unless it is a path, a comparison and a value.
  init?(argument: String) {
    guard let (start, comparison) = Self.comparison(in: argument) else { return nil }
    let path = argument[..<start].trimmed
    guard let path = ValuePath(path) else { return nil }
    let operand = argument[argument.index(start, offsetBy: comparison.rawValue.count)...].trimmed
    self.path = path
    self.comparison = comparison
    let bytes = Array(operand.utf8)
    // What is not JSON is text: quotes are only needed around what would be.
    self.operand = Operand(
      JSONCursor.isDocument(ContiguousArray(bytes).span) ? Scalar(json: ContiguousArray(bytes).span) : .text(bytes)
    )
  }

  /// The same without a difference between upper and lower case.
  var ignoringCase: Condition {
    var other = self
    other.ignoresCase = true
    other.operand = Operand(operand.given.lowercased)
    return other
  }

  /// The first comparison outside of quotes.
  private static func comparison(in text: String) -> (String.Index, Comparison)? {
    var isQuoted = false
    for index in text.indices {
      if text[index] == "\"" { isQuoted.toggle() }
      guard !isQuoted, let found = Comparison.allCases.first(where: { text[index...].hasPrefix($0.rawValue) }) else {
        continue
      }
      return (index, found)
    }
    return nil
  }

  /// Whether the value, which is JSON, is as it must be. What is not there counts as null.
  ///
  /// - Parameter isMarked: Whether what JSON has no type for is marked; see ``CBORText/Mark``.
  func holds(for json: Span<UInt8>, isMarked: Bool = false) -> Bool {
    guard let range = path.find(in: json) else { return holds(for: .null) }
    let found = json.extracting(range)
    let value = scalar(found, isMarked)
    if comparison == .contains, case .structure = value {
      var cursor = JSONCursor()
      let isMember = try? cursor.anyMember(found) { member in
        let (value, operand) = operand.beside(scalar(member, isMarked))
        return value == operand
      }
      return isMember ?? false
    }
    return holds(for: value)
  }

  private func scalar(_ json: Span<UInt8>, _ isMarked: Bool) -> Scalar {
    let value = Scalar(json: json, isMarked: isMarked)
    return ignoresCase ? value.lowercased : value
  }

  private func holds(for value: Scalar) -> Bool {
    guard comparison != .contains else { return value.contains(operand.given) }
    let (value, operand) = operand.beside(value)
    switch comparison {
    case .equal, .same: return value == operand
    case .notEqual: return value != operand
    case .less: return value.isLess(than: operand)
    case .more: return operand.isLess(than: value)
    case .atMost: return value.isLess(than: operand) || value.isOrdered && value == operand
    case .atLeast: return operand.isLess(than: value) || value.isOrdered && value == operand
    case .contains: return value.contains(operand)
    }
  }
}

extension StringProtocol {
  fileprivate var trimmed: String {
    var text = self[...]
    while text.first == " " { text.removeFirst() }
    while text.last == " " { text.removeLast() }
    return String(text)
  }
}
