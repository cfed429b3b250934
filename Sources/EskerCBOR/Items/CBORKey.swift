/// The key of a map entry, ready to be written and compared: its bytes stand in two words.
///
/// A key is a text, or an integer that has a name, as the keys of `enum CodingKeys: Int, CodingKey` do.
///
/// ```swift
/// try writer.write(name, forKey: "name", in: &map)
/// ```
public struct CBORKey: ExpressibleByStringLiteral, Sendable {
  /// The first eight bytes of the key's item, the first of them lowest; 0 behind its end.
  @usableFromInline let low: UInt64
  /// The eight bytes behind them.
  @usableFromInline let high: UInt64
  /// The number of bytes of the item; 0 if they are more than 16, so that the words do not hold them.
  @usableFromInline let length: UInt8
  @usableFromInline let isNumber: Bool
  @usableFromInline let number: Int
  @usableFromInline let text: StaticString

  /// A text.
  ///
  /// - Complexity: O(n). A key that is used often is best kept in a constant.
  public init(stringLiteral text: StaticString) {
    var words: (low: UInt64, high: UInt64) = (0, 0)
    var length = 0
    text.withUTF8Buffer { bytes in
      guard bytes.count < 16 else { return }
      length = bytes.count + 1
      words.low = UInt64(MajorType.text) | UInt64(bytes.count)
      // Safety: a literal's bytes are there as long as the program runs.
      for unsafe(index, byte) in unsafe bytes.enumerated() {
        if index < 7 {
          words.low |= UInt64(byte) << UInt64(8 * (index + 1))
        } else {
          words.high |= UInt64(byte) << UInt64(8 * (index - 7))
        }
      }
    }
    self.init(low: words.low, high: words.high, length: UInt8(truncatingIfNeeded: length), text)
  }

  /// An integer.
  ///
  /// - Parameters:
  ///   - number: the key.
  ///   - name: what errors call it.
  public init(_ number: Int, name: StaticString) {
    let magnitude = UInt64(bitPattern: Int64(number < 0 ? ~number : number))
    let major = number < 0 ? MajorType.negative : MajorType.unsigned
    let width = magnitude < 24 ? 0 : magnitude <= 0xff ? 1 : magnitude <= 0xffff ? 2 : magnitude <= 0xffff_ffff ? 4 : 8
    var words: (low: UInt64, high: UInt64) = (UInt64(major), 0)
    switch width {
    case 0: words.low |= magnitude
    case 8:
      words.low |= 27 | magnitude.byteSwapped << 8
      words.high = magnitude.byteSwapped >> 56
    default:
      let info: UInt64 = width == 1 ? 24 : width == 2 ? 25 : 26
      words.low |= info | (magnitude << UInt64(64 - 8 * width)).byteSwapped << 8
    }
    self.init(low: words.low, high: words.high, length: UInt8(width + 1), isNumber: true, number: number, name)
  }

  @inlinable
  init(
    low: UInt64,
    high: UInt64,
    length: UInt8,
    isNumber: Bool = false,
    number: Int = 0,
    _ text: StaticString
  ) {
    self.low = low
    self.high = high
    self.length = length
    self.isNumber = isNumber
    self.number = number
    self.text = text
  }

  /// The same key for Codable, and for errors.
  var codingKey: DocumentKey {
    DocumentKey(stringValue: text.description, intValue: isNumber ? number : nil)
  }
}

extension CBORKey {
  /// A text of up to 15 bytes whose item has been spelled out beforehand, as the macro `@CBORCodable` does.
  ///
  /// - Parameters:
  ///   - low: the first eight bytes of the item, the first of them lowest.
  ///   - high: the eight bytes behind them.
  ///   - length: how many bytes the item has; a wrong one spoils what is written, and finds nothing.
  @inlinable
  public init(_low low: UInt64, _ high: UInt64, length: UInt8, _ text: StaticString) {
    self.init(low: low, high: high, length: length <= 16 ? length : 0, text)
  }
}
