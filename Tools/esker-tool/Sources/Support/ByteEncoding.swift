import ArgumentParser
import Foundation

/// How arbitrary bytes are written as text.
enum ByteEncoding: String, ExpressibleByArgument, CaseIterable {
  /// Unchanged: they must be UTF-8.
  case text
  /// Two hexadecimal digits per byte.
  case hex
  /// RFC 4648, with padding.
  case base64

  /// The name of a field with bytes in this encoding: `key`, `keyHex`, `key64`.
  func fieldName(_ name: String) -> String {
    switch self {
    case .text: name
    case .hex: name + "Hex"
    case .base64: name + "64"
    }
  }

  /// The bytes encoded by `text`; nil if it is not valid in this encoding.
  func decode(_ text: Span<UInt8>) -> [UInt8]? {
    switch self {
    case .text:
      guard UTF8Check.isValid(text) else { return nil }
      return [UInt8](copying: text)
    case .hex:
      var bytes: [UInt8] = []
      return Self.decodeHex(text, into: &bytes) ? bytes : nil
    case .base64:
      return Data(base64Encoded: text.data).map { Array($0) }
    }
  }

  /// The bytes encoded as text; nil if that is not possible.
  func encode(_ bytes: Span<UInt8>) -> [UInt8]? {
    var text: [UInt8] = []
    switch self {
    case .text:
      guard UTF8Check.isValid(bytes) else { return nil }
      text.append(contentsOf: bytes)
    case .hex:
      text.reserveCapacity(bytes.count * 2)
      for index in 0..<bytes.count {
        text.append(hexDigit(bytes[index] >> 4))
        text.append(hexDigit(bytes[index] & 15))
      }
    case .base64:
      text = Array(bytes.data.base64EncodedData())
    }
    return text
  }

  /// Replaces `bytes` by those that hexadecimal digits stand for; false if they are anything else.
  static func decodeHex(_ text: Span<UInt8>, into bytes: inout [UInt8]) -> Bool {
    bytes.removeAll(keepingCapacity: true)
    guard text.count.isMultiple(of: 2) else { return false }
    for index in stride(from: 0, to: text.count, by: 2) {
      guard let high = hexValue(text[index]), let low = hexValue(text[index + 1]) else { return false }
      bytes.append(high << 4 | low)
    }
    return true
  }
}

/// The number that a hexadecimal digit stands for; nil for any other character.
func hexValue(_ digit: UInt8) -> UInt8? {
  switch digit {
  case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
  case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
  case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
  default: nil
  }
}

/// The lower-case digit for a number below 16.
func hexDigit(_ number: UInt8) -> UInt8 {
  number < 10 ? UInt8(ascii: "0") + number : UInt8(ascii: "a") + number - 10
}
