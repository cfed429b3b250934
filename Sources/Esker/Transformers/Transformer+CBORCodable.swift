public import EskerCBOR

extension Transformer where Value: CBORDecodable & CBOREncodable {
  /// CBOR, as ``binary`` of every `Codable` type, written and read without Codable's calls: the same bytes in less time.
  @inlinable
  public static var binary: Transformer {
    let encoder = CBOREncoder()
    let decoder = CBORDecoder()
    var transformer = Transformer(
      id: "cbor",
      lend: { value, body in try encoder.withEncodedBytes(of: value) { body($0) } },
      decode: { bytes in try decoder.decode(Value.self, from: bytes) }
    )
    transformer.encodingTakesTime = true
    return transformer
  }
}

/// Finds out at run time, once for each transformer, that a `Codable` type does without Codable's calls.
@usableFromInline
enum DirectBinary<Value: Sendable> {
  /// The transformer of such a type; nil for any other.
  @usableFromInline
  static var transformer: Transformer<Value>? {
    (Self.self as? any DirectTransforming.Type)?.erasedTransformer as? Transformer<Value>
  }
}

private protocol DirectTransforming {
  static var erasedTransformer: Any { get }
}

extension DirectBinary: DirectTransforming where Value: CBORDecodable & CBOREncodable {
  fileprivate static var erasedTransformer: Any { Transformer<Value>.binary }
}
