/// JSON whose shape is not known in advance: for what `[String: Any]` is used for, but with a type, equality and `Sendable`.
///
/// A storage of JSON objects is `Storage<String, [String: JSONValue]>`, one of arrays `Storage<String, [JSONValue]>`.
public enum JSONValue: Hashable, Sendable {
  /// Nothing.
  case null
  /// True or false.
  case bool(Bool)
  /// A whole number that an `Int64` holds.
  case integer(Int64)
  /// Any other number.
  case number(Double)
  /// Text.
  case string(String)
  /// A list.
  case array([JSONValue])
  /// Named values.
  case object([String: JSONValue])

  /// The value of that name, if this is an object that has one.
  public subscript(name: String) -> JSONValue? {
    if case .object(let values) = self { values[name] } else { nil }
  }

  /// The value at that place, if this is an array that long.
  public subscript(index: Int) -> JSONValue? {
    if case .array(let values) = self, values.indices.contains(index) { values[index] } else { nil }
  }
}

extension JSONValue: Codable {
  /// Reads any JSON value.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .integer(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([JSONValue].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSONValue].self))
    }
  }

  /// Writes the value as it is.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// Nothing.
  public init(nilLiteral: ()) { self = .null }
  /// True or false.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// A whole number.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// A number.
  public init(floatLiteral value: Double) { self = .number(value) }
  /// Text.
  public init(stringLiteral value: String) { self = .string(value) }
  /// A list.
  public init(arrayLiteral values: JSONValue...) { self = .array(values) }
  /// Named values; of several with one name the last counts.
  public init(dictionaryLiteral values: (String, JSONValue)...) {
    self = .object(Dictionary(values, uniquingKeysWith: { $1 }))
  }
}
