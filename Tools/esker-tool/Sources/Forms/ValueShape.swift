/// What a value is made of: the type at each path, in the order of the fields. The elements of a list have a path together.
///
/// Made to notice that a value which is put in place of another, or beside others, is of other types than a program expects.
struct ValueShape {
  enum Kind: String {
    case text = "a text"
    case number = "a number"
    case flag = "true or false"
    case null
    case instant = "an instant"
    case uuid = "a UUID"
    case url = "a URL"
    case decimal = "a decimal number"
    case bytes
    case list = "a list"
    case object = "an object"
  }

  private var kinds: [String: Kind] = [:]
  private var paths: [String] = []

  private static let maximumDepth = 32

  /// - Parameter marked: JSON in which what JSON has no type for is marked; see ``CBORText/Mark``.
  init(marked: String) {
    let json = Array(marked.utf8)
    var cursor = JSONCursor()
    try? add(ContiguousArray(json).span, &cursor, "", 0)
  }

  /// The shape of a stored value; nil if values of that form have no types.
  init?(of value: [UInt8], _ form: StoredForm) {
    guard form.containsCBOR, let text = form.text(of: value, isMarked: true) else { return nil }
    self.init(marked: text)
  }

  /// What is at each path.
  var fields: [(path: String, kind: Kind)] { paths.compactMap { path in kinds[path].map { (path, $0) } } }

  /// Says what has changed, if anything has.
  static func report(_ changes: [String], _ advice: String = "") {
    guard !changes.isEmpty else { return }
    let more = changes.count > 3 ? "; and \(changes.count - 3) more" : ""
    StandardError.report("note: \(changes.prefix(3).joined(separator: "; "))\(more)\(advice)")
  }

  private mutating func add(_ json: Span<UInt8>, _ cursor: inout JSONCursor, _ path: String, _ depth: Int) throws {
    cursor.skipSpace(json)
    let start = cursor.position
    var end = cursor
    try end.skipValue(json, depth: depth)
    let value = json.extracting(start..<end.position)
    let kind = Self.kind(of: value)
    if kinds[path] == nil {
      paths.append(path)
      kinds[path] = kind
    } else if kinds[path] == .null {
      kinds[path] = kind
    }
    if kind == .object || kind == .list, depth < Self.maximumDepth {
      try cursor.forEachMember(json) { cursor, name in
        let name = name.map { json.extracting($0.bytes).text }
        let inner = name.map { path.isEmpty ? $0 : "\(path).\($0)" } ?? path + "[]"
        try add(json, &cursor, inner, depth + 1)
      }
    }
    cursor = end
  }

  private static func kind(of value: Span<UInt8>) -> Kind {
    switch value.isEmpty ? 0 : value[0] {
    case UInt8(ascii: "\""): return .text
    case UInt8(ascii: "t"), UInt8(ascii: "f"): return .flag
    case UInt8(ascii: "n"): return .null
    case UInt8(ascii: "["): return .list
    case UInt8(ascii: "{"):
      switch CBORText.Mark.read(value)?.0 {
      case nil: return .object
      case .bytes: return .bytes
      case .date: return .instant
      case .uuid: return .uuid
      case .url: return .url
      case .decimal: return .decimal
      case .float: return .number
      }
    default: return .number
    }
  }

  // MARK: Differences

  /// What is different from the value that this one replaces, such as `founded was an instant and is a text`.
  func changes(from old: ValueShape) -> [String] {
    var changes = kindsDiffering(from: old).map { "\(name($0.path)) was \($0.old.rawValue) and is \($0.new.rawValue)" }
    changes += outermost(old.paths.filter { kinds[$0] == nil }).map { "\(name($0)) is gone" }
    changes += outermost(paths.filter { old.kinds[$0] == nil }).map { "\(name($0)) is new" }
    return changes
  }

  /// What is of another type than in another entry, which may have other fields.
  func differences(fromAnother other: ValueShape) -> [String] {
    kindsDiffering(from: other).map {
      "\(name($0.path)) is \($0.new.rawValue), and \($0.old.rawValue) in another entry"
    }
  }

  private func kindsDiffering(from old: ValueShape) -> [(path: String, old: Kind, new: Kind)] {
    paths.compactMap { path in
      guard let new = kinds[path], let old = old.kinds[path], new != old, new != .null, old != .null else { return nil }
      return (path, old, new)
    }
  }

  /// Without what is inside of others. The elements of a list that was empty, or is, are no change.
  private func outermost(_ paths: [String]) -> [String] {
    paths.filter { path in
      !path.hasSuffix("[]") && !paths.contains { path.hasPrefix($0 + ".") || path.hasPrefix($0 + "[]") }
    }
  }

  private func name(_ path: String) -> String { path.isEmpty ? "the value" : path }
}
