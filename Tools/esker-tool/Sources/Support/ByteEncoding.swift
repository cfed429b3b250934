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
    case .hex: return Self.decodeHex(text)
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
      let digits = Array("0123456789abcdef".utf8)
      text.reserveCapacity(bytes.count * 2)
      for index in 0..<bytes.count {
        text.append(digits[Int(bytes[index] >> 4)])
        text.append(digits[Int(bytes[index] & 15)])
      }
    case .base64:
      text = Array(bytes.data.base64EncodedData())
    }
    return text
  }

  private static func decodeHex(_ text: Span<UInt8>) -> [UInt8]? {
    guard text.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 2)
    for index in stride(from: 0, to: text.count, by: 2) {
      guard let high = Character(Unicode.Scalar(text[index])).hexDigitValue,
        let low = Character(Unicode.Scalar(text[index + 1])).hexDigitValue, text[index] < 0x80, text[index + 1] < 0x80
      else { return nil }
      bytes.append(UInt8(high << 4 | low))
    }
    return bytes
  }
}
