public import Foundation

// The types of the standard library and of Foundation, in the forms that they have through Codable.

extension Bool: CBORDecodable {
  /// Reads an item that Codable would read, and throws the same `DecodingError` otherwise.
  public init(from reader: inout CBORReader) throws {
    self = try reader.withSession { try $0.bool(at: $0.next) }
  }
}

extension String: CBORDecodable {
  /// Reads an item that Codable would read, and throws the same `DecodingError` otherwise.
  public init(from reader: inout CBORReader) throws {
    self = try reader.withSession { try $0.text(at: $0.next) }
  }
}

extension Double: CBORDecodable {
  /// Reads an item that Codable would read, and throws the same `DecodingError` otherwise.
  public init(from reader: inout CBORReader) throws {
    self = try reader.withSession { try $0.double(at: $0.next) }
  }
}

extension Float: CBORDecodable {
  /// Reads an item that Codable would read, and throws the same `DecodingError` otherwise.
  public init(from reader: inout CBORReader) throws {
    self = try reader.withSession { try $0.float(at: $0.next) }
  }
}

extension Int: CBORDecodable {
  /// Reads an item that Codable would read, and throws the same `DecodingError` otherwise.
  public init(from reader: inout CBORReader) throws {
    self = try reader.withSession { try $0.integer(Int.self, at: $0.next) }
  }
}

extension Int8: CBORDecodable {
  /// Reads an item that Codable would read, and throws the same `DecodingError` otherwise.
  public init(from reader: inout CBORReader) throws {
    self = try reader.withSession { try $0.integer(Int8.self, at: $0.next) }
  }
}

extension Int16: CBORDecodable {
  /// Reads an item that Codable would read, and throws the same `DecodingError` otherwise.
  public init(from reader: inout CBORReader) throws {
    self = try reader.withSession { try $0.integer(Int16.self, at: $0.next) }
  }
}

extension Int32: CBORDecodable {
  /// Reads an item that Codable would read, and throws the same `DecodingError` otherwise.
  public init(from reader: inout CBORReader) throws {
    self = try reader.withSession { try $0.integer(Int32.self, at: $0.next) }
  }
}

extension Int64: CBORDecodable {
  /// Reads an item that Codable would read, and throws the same `DecodingError` otherwise.
  public init(from reader: inout CBORReader) throws {
    self = try reader.withSession { try $0.integer(Int64.self, at: $0.next) }
  }
}

extension Int128: CBORDecodable {
  /// Reads an item that Codable would read, and throws the same `DecodingError` otherwise.
  public init(from reader: inout CBORReader) throws {
    self = try reader.withSession { try $0.integer(Int128.self, at: $0.next) }
  }
}

extension UInt: CBORDecodable {
  /// Reads an item that Codable would read, and throws the same `DecodingError` otherwise.
  public init(from reader: inout CBORReader) throws {
    self = try reader.withSession { try $0.integer(UInt.self, at: $0.next) }
  }
}

extension UInt8: CBORDecodable {
  /// Reads an item that Codable would read, and throws the same `DecodingError` otherwise.
  public init(from reader: inout CBORReader) throws {
    self = try reader.withSession { try $0.integer(UInt8.self, at: $0.next) }
  }
}

extension UInt16: CBORDecodable {
  /// Reads an item that Codable would read, and throws the same `DecodingError` otherwise.
  public init(from reader: inout CBORReader) throws {
    self = try reader.withSession { try $0.integer(UInt16.self, at: $0.next) }
  }
}

extension UInt32: CBORDecodable {
  /// Reads an item that Codable would read, and throws the same `DecodingError` otherwise.
  public init(from reader: inout CBORReader) throws {
    self = try reader.withSession { try $0.integer(UInt32.self, at: $0.next) }
  }
}

extension UInt64: CBORDecodable {
  /// Reads an item that Codable would read, and throws the same `DecodingError` otherwise.
  public init(from reader: inout CBORReader) throws {
    self = try reader.withSession { try $0.integer(UInt64.self, at: $0.next) }
  }
}

extension UInt128: CBORDecodable {
  /// Reads an item that Codable would read, and throws the same `DecodingError` otherwise.
  public init(from reader: inout CBORReader) throws {
    self = try reader.withSession { try $0.integer(UInt128.self, at: $0.next) }
  }
}

extension Date: CBORDecodable {
  /// Reads an item that Codable would read, and throws the same `DecodingError` otherwise.
  public init(from reader: inout CBORReader) throws {
    self = try reader.withSession { try $0.date(at: $0.next) }
  }
}

extension Data: CBORDecodable {
  /// Reads an item that Codable would read, and throws the same `DecodingError` otherwise.
  public init(from reader: inout CBORReader) throws {
    self = try reader.withSession { try $0.data(at: $0.next) }
  }
}

extension UUID: CBORDecodable {
  /// Reads an item that Codable would read, and throws the same `DecodingError` otherwise.
  public init(from reader: inout CBORReader) throws {
    self = try reader.withSession { try $0.uuid(at: $0.next) }
  }
}

extension URL: CBORDecodable {
  /// Reads an item that Codable would read, and throws the same `DecodingError` otherwise.
  public init(from reader: inout CBORReader) throws {
    self = try reader.withSession { try $0.url(at: $0.next) }
  }
}

extension Decimal: CBORDecodable {
  /// Reads an item that Codable would read, and throws the same `DecodingError` otherwise.
  public init(from reader: inout CBORReader) throws {
    self = try reader.withSession { try $0.decimal(at: $0.next) }
  }
}

/// Enums with raw values, option sets and other wrappers need only declare the conformance: their item is that of the raw value.
extension CBORDecodable where Self: RawRepresentable, RawValue: CBORDecodable {
  /// Reads an item that Codable would read, and throws the same `DecodingError` otherwise.
  @inlinable
  public init(from reader: inout CBORReader) throws {
    let start = reader.position
    let rawValue = try RawValue(from: &reader)
    guard let value = Self(rawValue: rawValue) else {
      throw reader.noValue(of: Self.self, rawValue, at: start)
    }
    self = value
  }
}

extension CBORReader {
  @usableFromInline
  @inline(never)
  func noValue<Raw>(of type: Any.Type, _ rawValue: Raw, at start: Int) -> DecodingError {
    withSession { session in
      .dataCorrupted(
        .init(
          codingPath: session.codingPath(to: start),
          debugDescription: "Cannot initialize \(type) from invalid \(Raw.self) value \(rawValue)"
        )
      )
    }
  }
}
