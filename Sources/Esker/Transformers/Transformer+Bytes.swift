public import Foundation

extension Transformer where Value == [UInt8] {
  /// Bytes as they are.
  @inlinable
  public static var bytes: Transformer {
    Transformer(id: "bytes", lend: { value, body in value.withBytes { body($0) } }, decode: { $0.copied() })
  }
}

extension Transformer where Value == Data {
  /// Bytes as they are.
  @inlinable
  public static var data: Transformer {
    Transformer(
      id: "bytes",
      lend: { value, body in value.withBytes { body($0) } },
      decode: { Data($0) }
    )
  }
}

extension Transformer where Value == String {
  /// Text as UTF-8. Bytes that are not UTF-8 are refused, not repaired.
  @inlinable
  public static var utf8: Transformer {
    Transformer(
      id: "utf8",
      lend: { value, body in value.withBytes { body($0) } },
      decode: { bytes in
        guard let text = String(validating: bytes) else {
          throw TransformerError.notText(encoding: "UTF-8")
        }
        return text
      }
    )
  }

  /// Text in another encoding. Text that the encoding cannot write is refused.
  public static func text(_ encoding: String.Encoding) -> Transformer {
    Transformer(
      id: "text-\(encoding.rawValue)",
      encode: { value in
        guard let data = value.data(using: encoding) else {
          throw TransformerError.notText(encoding: "\(encoding)")
        }
        return data
      },
      decode: { bytes in
        guard let text = String(data: Data(bytes), encoding: encoding) else {
          throw TransformerError.notText(encoding: "\(encoding)")
        }
        return text
      }
    )
  }
}
