/// Validates one line written by `dump` and takes it apart, in a single pass.
///
/// The line is an object of strings; unknown fields are skipped. A value whose form is named may be anything.
struct EntryScanner {
  private(set) var entry = EntryBuilder()

  /// Where the field "value" is, and whether it is a string.
  private var value: (range: Range<Int>, isText: Bool)?

  /// The string unescaped last, kept for its storage.
  private var text: [UInt8] = []

  /// Validates `line` and stores its contents in ``entry``.
  ///
  /// - Throws: ``JSONFault`` or ``EntryFault``.
  mutating func scan(_ line: Span<UInt8>) throws {
    entry.removeAll()
    value = nil
    var cursor = JSONCursor()
    cursor.skipSpace(line)
    guard cursor.skip(UInt8(ascii: "{"), line) else {
      throw JSONFault(cursor.skip(UInt8(ascii: "["), line) ? .list : .notAnObject)
    }
    cursor.skipSpace(line)
    if !cursor.skip(UInt8(ascii: "}"), line) { try scanMembers(line, &cursor) }
    cursor.skipSpace(line)
    guard cursor.position == line.count else { throw JSONFault(.trailingBytes, at: cursor.position) }
    if let value {
      // The form may be named after the value, so only now is it known what the value is.
      if entry.namesValueForm {
        try entry.setValue(json: line.extracting(value.range))
      } else if !value.isText {
        throw EntryFault(description: "field \"value\" is not a text")
      }
    }
    try entry.finish()
  }

  private mutating func scanMembers(_ line: Span<UInt8>, _ cursor: inout JSONCursor) throws {
    while true {
      if let field = try field(cursor.name(line), line) {
        try take(field, line, &cursor)
      } else {
        try cursor.skipValue(line, depth: 1)
      }
      cursor.skipSpace(line)
      guard cursor.skip(UInt8(ascii: ","), line) else { break }
      cursor.skipSpace(line)
    }
    try cursor.expect(UInt8(ascii: "}"), line, wanted: "',' or '}'")
  }

  private mutating func field(_ name: JSONCursor.StringRange, _ line: Span<UInt8>) throws -> EntryField? {
    let bytes = line.extracting(name.bytes)
    guard name.hasEscapes || bytes.count <= 12 else { return nil }
    guard name.hasEscapes else {
      return EntryField(rawValue: bytes.text)
    }
    text.removeAll(keepingCapacity: true)
    guard JSONCursor.unescape(bytes, into: &text) else { return nil }
    return EntryField(rawValue: String(decoding: text, as: UTF8.self))
  }

  private mutating func take(_ field: EntryField, _ line: Span<UInt8>, _ cursor: inout JSONCursor) throws {
    let start = cursor.position
    guard start < line.count, line[start] == UInt8(ascii: "\"") else {
      try cursor.skipValue(line, depth: 1)
      // No other value begins like this.
      if field == .expires, start < line.count, line[start] == UInt8(ascii: "n") {
        return try entry.setExpiry(.never)
      }
      switch field {
      case .value:
        try entry.beginValue()
        value = (start..<cursor.position, false)
      case .valueVersion: try entry.set(field, line.extracting(start..<cursor.position))
      default: throw EntryFault(description: "field \"\(field.rawValue)\" is not a text")
      }
      return
    }
    let string = try cursor.string(line, wanted: "a string")
    if field == .value { value = (start..<cursor.position, true) }
    let bytes = line.extracting(string.bytes)
    guard string.hasEscapes else { return try entry.set(field, bytes) }
    // Swapped out and back: the entry, part of this value too, is modified while the text is being read.
    var text: [UInt8] = []
    swap(&text, &self.text)
    defer { swap(&text, &self.text) }
    text.removeAll(keepingCapacity: true)
    guard JSONCursor.unescape(bytes, into: &text) else {
      throw EntryFault(description: "field \"\(field.rawValue)\" has half of a surrogate pair, which no text can hold")
    }
    try entry.set(field, ContiguousArray(text).span)
  }
}
