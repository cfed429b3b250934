public import EskerCBOR
public import Foundation

extension Transformer where Value: Codable {
  /// CBOR (RFC 8949), a compact binary form that other languages read too: one item, of any kind, numbers and strings
  /// included. A struct is a map from the names of its fields to their values, so fields may come and go.
  ///
  /// Writing and reading take a small part of the time that JSON takes, and the bytes are fewer. Types that are `CBORCodable`
  /// take less.
  @inlinable
  public static var binary: Transformer {
    if let transformer = DirectBinary<Value>.transformer { return transformer }
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

  /// JSON. Values of any kind may be at the top, numbers and strings included. A number that JSON cannot write, such as NaN, is
  /// refused with the path to it.
  @inlinable
  public static var json: Transformer { json() }

  /// JSON, written and read as the given coders are set. They must not be changed afterwards.
  @inlinable
  public static func json(encoder: JSONEncoder = JSONEncoder(), decoder: JSONDecoder = JSONDecoder()) -> Transformer {
    Transformer(
      id: "json",
      encode: { value in try encoder.encode(value) },
      decode: { bytes in try decoder.decode(Value.self, from: Data(bytes)) }
    )
  }

  /// A property list, as other programs read and write it: a dictionary or an array at the top. A number, a text or another value that
  /// cannot stand alone in one is kept in a dictionary, as its only value. The XML form has no fractions of a second: a `Date` loses
  /// them.
  public static func propertyList(_ format: PropertyListSerialization.PropertyListFormat = .binary) -> Transformer {
    Transformer(
      id: "plist",
      encode: { value in
        let encoder = PropertyListEncoder()
        encoder.outputFormat = format
        // What looks as if it were kept so is kept so too, and is told apart from what is.
        if let list = try? encoder.encode(value), list.range(of: PropertyListRoot<Value>.mark) == nil { return list }
        return try encoder.encode(PropertyListRoot(value: value))
      },
      decode: { bytes in try PropertyListDecoder().decode(PropertyListRoot<Value>.self, from: Data(bytes)).value }
    )
  }

  /// The form of a type for which no other is given: its own if it is a ``StorageValue``, otherwise `binary`.
  @inlinable
  public static var standard: Transformer {
    if let type = Value.self as? any StorageValue.Type, let own = type.erasedTransformer as? Transformer { return own }
    return binary
  }
}

/// A value at the top of a property list: by itself, or as the only value of a dictionary, since it cannot stand alone.
private struct PropertyListRoot<Value: Codable>: Codable {
  let value: Value

  private enum Keys: String, CodingKey {
    case value = "esker.value"
  }

  /// The bytes by which such a dictionary may be told.
  static var mark: Data { Data(Keys.value.rawValue.utf8) }

  init(value: Value) {
    self.value = value
  }

  init(from decoder: any Decoder) throws {
    if let only = try? decoder.container(keyedBy: Keys.self), only.contains(.value) {
      value = try only.decode(Value.self, forKey: .value)
    } else {
      value = try decoder.singleValueContainer().decode(Value.self)
    }
  }

  func encode(to encoder: any Encoder) throws {
    var only = encoder.container(keyedBy: Keys.self)
    try only.encode(value, forKey: .value)
  }
}
