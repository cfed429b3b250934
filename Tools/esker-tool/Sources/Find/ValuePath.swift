/// A path into a value that is JSON: names of fields and places in lists, as in `address.city` or `tags[0]`. A name with a dot or
/// a bracket in it is given as `["a.b"]`. A dot alone is the whole value.
struct ValuePath: Equatable {
  enum Step: Equatable {
    case field([UInt8])
    case place(Int)
  }

  private(set) var steps: [Step] = []

  /// Nil if the text is not a path.
  init?(_ text: String) {
    var rest = text[...]
    if rest == "." { return }
    var needsName = true
    if rest.first == "." { rest.removeFirst() }
    while let first = rest.first {
      if first == "[" {
        guard let step = Self.bracket(&rest) else { return nil }
        steps.append(step)
      } else if needsName || first == "." {
        if !needsName { rest.removeFirst() }
        let name = rest.prefix { $0 != "." && $0 != "[" }
        guard !name.isEmpty else { return nil }
        steps.append(.field(Array(name.utf8)))
        rest = rest[name.endIndex...]
      } else {
        return nil
      }
      needsName = false
    }
    guard !steps.isEmpty else { return nil }
  }

  private static func bracket(_ rest: inout Substring) -> Step? {
    rest.removeFirst()
    if rest.first == "\"" {
      // As a string of JSON, with its escapes.
      let bytes = Array(rest.utf8)
      var cursor = JSONCursor()
      var name: [UInt8] = []
      guard let string = try? cursor.string(ContiguousArray(bytes).span, wanted: "a name"),
        cursor.skip(UInt8(ascii: "]"), ContiguousArray(bytes).span),
        JSONCursor.unescape(ContiguousArray(bytes).span.extracting(string.bytes), into: &name)
      else { return nil }
      rest.removeSubrange(rest.startIndex..<rest.utf8.index(rest.startIndex, offsetBy: cursor.position))
      return .field(name)
    }
    let digits = rest.prefix { $0 != "]" }
    guard let place = Int(digits), place >= 0, digits.endIndex < rest.endIndex else { return nil }
    rest.removeSubrange(rest.startIndex...digits.endIndex)
    return .place(place)
  }

  /// Where the path leads to in a value of JSON; nil if there is nothing, or the value is not JSON up to there.
  func find(in json: Span<UInt8>) -> Range<Int>? {
    var cursor = JSONCursor()
    cursor.skipSpace(json)
    for step in steps {
      switch step {
      case .field(let name): guard (try? cursor.moveToField(name, json)) ?? false else { return nil }
      case .place(let place): guard (try? cursor.moveToElement(place, json)) ?? false else { return nil }
      }
    }
    let start = cursor.position
    guard (try? cursor.skipValue(json, depth: 0)) != nil else { return nil }
    return start..<cursor.position
  }
}

extension JSONCursor {
  /// From an object to the value of a field; false if there is no such field, or no object.
  fileprivate mutating func moveToField(_ name: [UInt8], _ json: Span<UInt8>) throws(JSONFault) -> Bool {
    var text: [UInt8] = []
    guard skip(UInt8(ascii: "{"), json) else { return false }
    repeat {
      skipSpace(json)
      guard position < json.count, json[position] == UInt8(ascii: "\"") else { return false }
      let found = try self.name(json)
      text.removeAll(keepingCapacity: true)
      guard Self.unescape(json.extracting(found.bytes), into: &text) else { return false }
      if text == name { return true }
      try skipValue(json, depth: 0)
      skipSpace(json)
    } while skip(UInt8(ascii: ","), json)
    return false
  }

  /// From a list to one of its elements; false if it is shorter, or there is no list.
  fileprivate mutating func moveToElement(_ place: Int, _ json: Span<UInt8>) throws(JSONFault) -> Bool {
    guard skip(UInt8(ascii: "["), json) else { return false }
    skipSpace(json)
    guard position < json.count, json[position] != UInt8(ascii: "]") else { return false }
    for _ in 0..<place {
      try skipValue(json, depth: 0)
      skipSpace(json)
      guard skip(UInt8(ascii: ","), json) else { return false }
      skipSpace(json)
    }
    return true
  }

  /// Whether `body` is true of an element of a list, or of a name of an object, in its quotes.
  mutating func anyMember(_ json: Span<UInt8>, _ body: (Span<UInt8>) -> Bool) throws -> Bool {
    var isFound = false
    try forEachMember(json) { cursor, name in
      let start = cursor.position
      try cursor.skipValue(json, depth: 0)
      let range = name.map { $0.bytes.lowerBound - 1..<$0.bytes.upperBound + 1 } ?? start..<cursor.position
      isFound = isFound || body(json.extracting(range))
    }
    return isFound
  }
}
