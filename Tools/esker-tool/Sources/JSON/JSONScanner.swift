/// Validates one JSON document and finds the text of one of its fields, in a single pass without building a tree.
///
/// The document must be an object. It is validated against the whole grammar of RFC 8259, and its strings as UTF-8; nesting
/// is limited so that no document can exhaust memory.
///
/// One scanner serves any number of documents and allocates nothing once `key` has grown to its usual size.
struct JSONScanner {
  /// The maximum nesting of objects and arrays, including the outermost object.
  static let maximumDepth = 512

  /// The field to find, for messages.
  let field: String
  /// The names on the way to it.
  private let path: [[UInt8]]

  /// The field's text in the document last scanned: an unescaped string, or a number as written.
  private(set) var key: [UInt8] = []

  /// The name unescaped last, kept for its storage.
  private var name: [UInt8] = []

  init(_ field: KeyField) {
    (self.field, path) = (field.text, field.names)
  }

  /// Validates `document` and stores the field's text in ``key``.
  mutating func scan(_ document: Span<UInt8>) throws(JSONFault) {
    var cursor = JSONCursor()
    cursor.skipSpace(document)
    guard cursor.position < document.count, document[cursor.position] == UInt8(ascii: "{") else {
      throw JSONFault(cursor.skip(UInt8(ascii: "["), document) ? .list : .notAnObject)
    }
    cursor.position += 1
    let found = try scanMembers(document, &cursor, 0)
    cursor.skipSpace(document)
    guard cursor.position == document.count else { throw JSONFault(.trailingBytes, at: cursor.position) }
    guard found else { throw JSONFault(.fieldMissing) }
  }

  /// Scans an object on the way to the field, within `depth` others, from after its brace; true if it contains the field.
  private mutating func scanMembers(
    _ document: Span<UInt8>,
    _ cursor: inout JSONCursor,
    _ depth: Int
  ) throws(JSONFault) -> Bool {
    var found = false
    var hasKey = false
    cursor.skipSpace(document)
    if cursor.skip(UInt8(ascii: "}"), document) { return false }
    let isLast = depth == path.count - 1
    while true {
      let start = cursor.position
      let name = try cursor.name(document)
      if isField(name, document, path[depth]) {
        guard !found else { throw JSONFault(.fieldTwice, at: start) }
        found = true
        if isLast {
          try takeKey(document, &cursor, depth)
          hasKey = true
        } else if cursor.skip(UInt8(ascii: "{"), document) {
          hasKey = try scanMembers(document, &cursor, depth + 1)
        } else {
          try cursor.skipValue(document, depth: depth + 1)
        }
      } else {
        try cursor.skipValue(document, depth: depth + 1)
      }
      cursor.skipSpace(document)
      if cursor.skip(UInt8(ascii: ","), document) {
        cursor.skipSpace(document)
        continue
      }
      try cursor.expect(UInt8(ascii: "}"), document, wanted: "',' or '}'")
      return hasKey
    }
  }

  private mutating func isField(
    _ string: JSONCursor.StringRange,
    _ document: Span<UInt8>,
    _ field: [UInt8]
  ) -> Bool {
    if !string.hasEscapes {
      guard string.bytes.count == field.count else { return false }
      for index in 0..<field.count where document[string.bytes.lowerBound + index] != field[index] { return false }
      return true
    }
    // An escape is never shorter than what it stands for.
    guard string.bytes.count >= field.count else { return false }
    name.removeAll(keepingCapacity: true)
    return JSONCursor.unescape(document.extracting(string.bytes), into: &name) && name == field
  }

  /// Scans the field's value into `key`.
  private mutating func takeKey(
    _ document: Span<UInt8>,
    _ cursor: inout JSONCursor,
    _ depth: Int
  ) throws(JSONFault) {
    let start = cursor.position
    guard start < document.count else { throw JSONFault(.unexpectedEnd, at: start) }
    key.removeAll(keepingCapacity: true)
    switch document[start] {
    case UInt8(ascii: "\""):
      let string = try cursor.string(document, wanted: "a string")
      if !string.hasEscapes {
        key.append(contentsOf: document.extracting(string.bytes))
      } else if !JSONCursor.unescape(document.extracting(string.bytes), into: &key) {
        throw JSONFault(.fieldHasLoneSurrogate, at: start)
      }
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      try cursor.skipNumber(document)
      key.append(contentsOf: document.extracting(start..<cursor.position))
    default:
      // Malformed JSON is reported in preference to a value of the wrong kind.
      try cursor.skipValue(document, depth: depth + 1)
      throw JSONFault(.fieldNotText, at: start)
    }
  }
}
