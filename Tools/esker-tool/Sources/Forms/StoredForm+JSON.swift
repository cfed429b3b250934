// Values as JSON, where they stand in a document of JSON, and back.

extension StoredForm {
  /// Whether the text of values is JSON already, or would be a number or a word of JSON.
  private var isWrittenInJSON: Bool {
    switch self {
    case .integer, .float, .bool, .json, .cbor: true
    case .transformed(let form, _): form.isWrittenInJSON
    case .raw, .text, .date, .uuid, .composite: false
    }
  }

  /// Whether a string of JSON is itself such a value, and not the text of one.
  private var containsStrings: Bool {
    switch self {
    case .json, .cbor: true
    case .transformed(let form, _): form.containsStrings
    default: false
    }
  }

  /// Whether the values are CBOR, or that turned further.
  var containsCBOR: Bool {
    switch self {
    case .cbor: true
    case .transformed(let form, _): form.containsCBOR
    default: false
    }
  }

  /// Adds a field with the value if ``bytes(ofJSON:)`` makes the same bytes of it again; false, with nothing added, if not.
  func add(_ bytes: [UInt8], as name: String, to writer: inout JSONWriter) -> Bool {
    guard let text = exactText(of: bytes) else { return false }
    // Infinity is a number that JSON cannot write.
    guard isWrittenInJSON, JSONCursor.isDocument(ContiguousArray(text.utf8).span) else {
      writer.field(name, text)
      return true
    }
    // JSON is kept byte by byte, but for the space around it and the end of a line.
    guard text.utf8.first != 0x20, text.utf8.last != 0x20, !text.utf8.contains(where: { $0 < 0x20 }) else {
      return false
    }
    writer.name(name)
    writer.literal(text)
    return true
  }

  /// Adds the value, marked where JSON has no type for it; false, with nothing added, if the bytes are not of this form.
  func addMarked(_ bytes: [UInt8], to writer: inout JSONWriter) -> Bool {
    guard let text = text(of: bytes, isMarked: true) else { return false }
    if isWrittenInJSON {
      writer.literal(text)
    } else if case .date = self {
      writer.object { $0.field(CBORText.Mark.date.rawValue, text) }
    } else {
      writer.value(text)
    }
    return true
  }

  /// The value that JSON stands for, such as a number of JSON for a number; nil if it is not of this form.
  func bytes(ofJSON json: Span<UInt8>) -> [UInt8]? {
    guard JSONCursor.isDocument(json) else { return nil }
    guard !containsStrings, let text = JSONCursor.text(ofString: json) else {
      return isWrittenInJSON ? bytes(of: json.text) : nil
    }
    return bytes(of: text)
  }
}

extension JSONCursor {
  /// Whether the text is a value of JSON and nothing else.
  static func isDocument(_ text: Span<UInt8>) -> Bool {
    var cursor = JSONCursor()
    cursor.skipSpace(text)
    guard (try? cursor.skipValue(text, depth: 0)) != nil else { return false }
    cursor.skipSpace(text)
    return cursor.position == text.count
  }

  /// The text of a value that is a string; nil for any other.
  static func text(ofString json: Span<UInt8>) -> String? {
    var cursor = JSONCursor()
    var text: [UInt8] = []
    cursor.skipSpace(json)
    guard let string = try? cursor.string(json, wanted: "a string"),
      unescape(json.extracting(string.bytes), into: &text)
    else { return nil }
    return String(decoding: text, as: UTF8.self)
  }
}
