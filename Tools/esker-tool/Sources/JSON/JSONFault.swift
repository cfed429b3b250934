/// Why a line is not a document that can be loaded.
struct JSONFault: Error, Hashable {
  enum Reason: Hashable {
    case notAnObject
    /// A list, as files named `.json` often hold.
    case list
    case unexpectedEnd
    case unexpected(UInt8, wanted: String)
    case trailingBytes
    case controlCharacterInString(UInt8)
    case badEscape
    case invalidUTF8
    case nestedTooDeeply
    case fieldMissing
    case fieldTwice
    case fieldNotText
    case fieldHasLoneSurrogate
  }

  let reason: Reason
  /// The byte offset in the line, from 0; nil if the fault concerns the whole line.
  let offset: Int?

  init(_ reason: Reason, at offset: Int? = nil) {
    self.reason = reason
    self.offset = offset
  }

  /// The fault in words, for a message that has already named the line.
  func description(field: String) -> String {
    let text =
      switch reason {
      case .notAnObject: "not a JSON object"
      case .list: "not a JSON object but a list: put its elements on a line each, as jq -c '.[]' does"
      case .unexpectedEnd: "the document ends too early"
      case .unexpected(let byte, let wanted): "\(Self.name(of: byte)) where \(wanted) was expected"
      case .trailingBytes: "bytes after the end of the document"
      case .controlCharacterInString(let byte): "\(Self.name(of: byte)) in a string must be escaped"
      case .badEscape: "invalid escape in a string"
      case .invalidUTF8: "not valid UTF-8"
      case .nestedTooDeeply: "nested more than \(JSONScanner.maximumDepth) levels deep"
      case .fieldMissing: "no field \"\(field)\""
      case .fieldTwice: "field \"\(field)\" occurs twice"
      case .fieldNotText: "field \"\(field)\" is neither a string nor a number"
      case .fieldHasLoneSurrogate: "field \"\(field)\" has half of a surrogate pair, which no key can hold"
      }
    return offset.map { "\(text) (byte \($0 + 1))" } ?? text
  }

  private static func name(of byte: UInt8) -> String {
    if byte > 0x20, byte < 0x7F { return "'\(Character(Unicode.Scalar(byte)))'" }
    let digits = String(byte, radix: 16, uppercase: true)
    return "byte 0x" + (digits.count < 2 ? "0" : "") + digits
  }
}
