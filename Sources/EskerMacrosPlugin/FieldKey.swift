#if Macros
  import SwiftSyntax
  import SwiftSyntaxBuilder

  /// The key of a field in a map.
  enum FieldKey {
    case text(String)
    case integer(Int, name: String)

    /// An expression of the type `CBORKey`. That of a short text has its item spelled out in two words, so that nothing is left to
    /// do at run time.
    var expression: String {
      switch self {
      case .text(let text):
        guard text.utf8.count < 16 else { return "EskerCBOR.CBORKey(stringLiteral: \(Self.literal(text)))" }
        // A text's first byte: the major type 3 and the length.
        let item = [0x60 | UInt8(text.utf8.count)] + text.utf8
        let low = Self.word(item.prefix(8))
        let high = Self.word(item.dropFirst(8))
        return "EskerCBOR.CBORKey(_low: \(low), \(high), length: \(item.count), \(Self.literal(text)))"
      case .integer(let number, let name):
        return "EskerCBOR.CBORKey(\(number), name: \(Self.literal(name)))"
      }
    }

    /// Up to eight bytes as one number, the first of them lowest.
    private static func word(_ bytes: some Collection<UInt8>) -> String {
      let word = bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      return "0x" + String(word, radix: 16)
    }

    private static func literal(_ text: String) -> String {
      StringLiteralExprSyntax(content: text).description
    }
  }
#endif
