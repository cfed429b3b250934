/// Composite keys as text: the parts with commas between them, a comma or a backslash within a part after a backslash.
enum CompositeText {
  static func text(of bytes: [UInt8], _ forms: [StoredForm]) -> String? {
    guard let parts = split(bytes, into: forms.count) else { return nil }
    var texts: [String] = []
    for (part, form) in zip(parts, forms) {
      guard let text = form.text(of: part) else { return nil }
      texts.append(text.replacing("\\", with: "\\\\").replacing(",", with: "\\,"))
    }
    return texts.joined(separator: ",")
  }

  static func bytes(of text: String, _ forms: [StoredForm]) -> [UInt8]? {
    var parts = [""]
    var isEscaped = false
    for character in text {
      switch character {
      case "\\" where !isEscaped:
        isEscaped = true
        continue
      case "," where !isEscaped: parts.append("")
      default: parts[parts.count - 1].append(character)
      }
      isEscaped = false
    }
    guard parts.count == forms.count, !isEscaped else { return nil }
    var bytes: [UInt8] = []
    for (number, (part, form)) in zip(parts, forms).enumerated() {
      guard let encoded = form.bytes(of: part) else { return nil }
      if number == forms.count - 1 {
        bytes += encoded
      } else {
        bytes += encoded.flatMap { $0 == 0 ? [0, 0xFF] : [$0] } + [0, 1]
      }
    }
    return bytes
  }

  /// The parts: in all but the last, a zero byte is followed by FF, and 00 01 is the end.
  static func split(_ bytes: [UInt8], into count: Int) -> [[UInt8]]? {
    var parts: [[UInt8]] = [[]]
    var rest = bytes[...]
    while parts.count < count {
      guard let byte = rest.popFirst() else { return nil }
      guard byte == 0 else {
        parts[parts.count - 1].append(byte)
        continue
      }
      switch rest.popFirst() {
      case 0xFF: parts[parts.count - 1].append(0)
      case 0x01: parts.append([])
      default: return nil
      }
    }
    parts[parts.count - 1] = Array(rest)
    return parts
  }
}
