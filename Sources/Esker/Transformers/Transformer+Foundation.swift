public import Foundation

extension Transformer where Value == Date {
  /// The date's own number, 8 bytes: no fraction of a second is lost.
  public static var exact: Transformer {
    Transformer<Double>.littleEndian.map(
      id: "date",
      to: { Date(timeIntervalSinceReferenceDate: $0) },
      from: { $0.timeIntervalSinceReferenceDate }
    )
  }
}

extension Transformer where Value == UUID {
  /// The 16 bytes of the identifier.
  public static var uuid: Transformer {
    Transformer(
      id: "uuid",
      lend: { value, body in lendBytes(of: value.uuid, to: body) },
      decode: { bytes in UUID(uuid: try bytes.load(as: uuid_t.self)) }
    )
  }
}

extension Transformer where Value == URL {
  /// The URL's absolute string, as UTF-8.
  public static var absoluteString: Transformer {
    Transformer<String>.utf8.map(
      id: "url",
      to: { text in
        guard let url = URL(string: text) else { throw TransformerError.malformed("\"\(text)\" is not a URL") }
        return url
      },
      from: { $0.absoluteString }
    )
  }
}

extension Transformer where Value: RawRepresentable, Value.RawValue: Sendable {
  /// A value as its raw value. A raw value that no value of the type has is refused.
  public static func rawValue(_ transformer: Transformer<Value.RawValue>) -> Transformer {
    transformer.map(
      id: transformer.id,
      to: { raw in
        guard let value = Value(rawValue: raw) else { throw TransformerError.noSuchCase("\(raw)") }
        return value
      },
      from: { $0.rawValue }
    )
  }
}

extension Transformer where Value: RawRepresentable, Value.RawValue: StorageValue {
  /// A value as its raw value, in the form that type has by itself.
  public static var rawValue: Transformer { rawValue(Value.RawValue.transformer) }
}
