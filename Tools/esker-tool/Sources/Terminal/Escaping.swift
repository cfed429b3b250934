/// Arbitrary bytes as one word of printable text, from which the bytes can be recovered.
///
/// Printable UTF-8 is unchanged. A backslash is doubled; tab, newline and carriage return become `\t`, `\n` and `\r`; any
/// other unprintable byte becomes `\x` and two digits. So a key can neither break a line or a column nor send control
/// sequences to the terminal.
func escaped(_ bytes: [UInt8]) -> String { String(decoding: escapedBytes(bytes), as: UTF8.self) }

/// The same as UTF-8. Text of ASCII without a backslash, which most is, is not looked at twice.
func escapedBytes(_ bytes: [UInt8]) -> [UInt8] {
  if bytes.allSatisfy({ 0x20..<0x7F ~= $0 && $0 != UInt8(ascii: "\\") }) { return bytes }
  return Array(escapedText(bytes).utf8)
}

private func escapedText(_ bytes: [UInt8]) -> String {
  var text = ""
  var decoder = UTF8.ForwardParser()
  var rest = bytes.makeIterator()
  var position = 0
  loop: while true {
    switch decoder.parseScalar(from: &rest) {
    case .emptyInput: break loop
    case .valid(let encoded):
      escape(UTF8.decode(encoded), bytes[position..<position + encoded.count], into: &text)
      position += encoded.count
    case .error(let length):
      for byte in bytes[position..<position + length] { text += hexEscape(byte) }
      position += length
    }
  }
  return text
}

/// Whether a terminal shows the bytes as they are: text, of whose control characters it has only ends of lines and tabs.
func isShowable(_ bytes: [UInt8]) -> Bool {
  guard let text = String(validating: bytes, as: UTF8.self) else { return false }
  return text.unicodeScalars.allSatisfy { scalar in
    scalar == "\n" || scalar == "\t"
      || scalar.properties.generalCategory != .control
        && !scalar.properties.isBidiControl
  }
}

private func escape(_ scalar: Unicode.Scalar, _ bytes: ArraySlice<UInt8>, into text: inout String) {
  switch scalar {
  case "\\": text += "\\\\"
  case "\t": text += "\\t"
  case "\n": text += "\\n"
  case "\r": text += "\\r"
  case " "..."~": text.unicodeScalars.append(scalar)
  default:
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
      for byte in bytes { text += hexEscape(byte) }
    default: text.unicodeScalars.append(scalar)
    }
  }
}

private func hexEscape(_ byte: UInt8) -> String { "\\x" + hex(byte) }

/// Two hexadecimal digits.
func hex(_ byte: UInt8) -> String { String(decoding: [hexDigit(byte >> 4), hexDigit(byte & 15)], as: UTF8.self) }
