public import Foundation

// The types of the standard library and of Foundation, in the forms that they have through Codable.

extension Bool: CBOREncodable {
  /// Writes the item that Codable would write.
  public func encode(into writer: inout CBORWriter) { writer.withSession { $0.write(self) } }
}

extension String: CBOREncodable {
  /// Writes the item that Codable would write.
  public func encode(into writer: inout CBORWriter) { writer.withSession { $0.write(self) } }
}

extension Double: CBOREncodable {
  /// Writes the item that Codable would write.
  public func encode(into writer: inout CBORWriter) { writer.withSession { $0.write(self) } }
}

extension Float: CBOREncodable {
  /// Writes the item that Codable would write.
  public func encode(into writer: inout CBORWriter) { writer.withSession { $0.write(self) } }
}

extension Int: CBOREncodable {
  /// Writes the item that Codable would write.
  public func encode(into writer: inout CBORWriter) { writer.withSession { $0.write(Int64(self)) } }
}

extension Int8: CBOREncodable {
  /// Writes the item that Codable would write.
  public func encode(into writer: inout CBORWriter) { writer.withSession { $0.write(Int64(self)) } }
}

extension Int16: CBOREncodable {
  /// Writes the item that Codable would write.
  public func encode(into writer: inout CBORWriter) { writer.withSession { $0.write(Int64(self)) } }
}

extension Int32: CBOREncodable {
  /// Writes the item that Codable would write.
  public func encode(into writer: inout CBORWriter) { writer.withSession { $0.write(Int64(self)) } }
}

extension Int64: CBOREncodable {
  /// Writes the item that Codable would write.
  public func encode(into writer: inout CBORWriter) { writer.withSession { $0.write(self) } }
}

extension Int128: CBOREncodable {
  /// Writes the item that Codable would write.
  public func encode(into writer: inout CBORWriter) { writer.withSession { $0.write(self) } }
}

extension UInt: CBOREncodable {
  /// Writes the item that Codable would write.
  public func encode(into writer: inout CBORWriter) { writer.withSession { $0.write(UInt64(self)) } }
}

extension UInt8: CBOREncodable {
  /// Writes the item that Codable would write.
  public func encode(into writer: inout CBORWriter) { writer.withSession { $0.write(UInt64(self)) } }
}

extension UInt16: CBOREncodable {
  /// Writes the item that Codable would write.
  public func encode(into writer: inout CBORWriter) { writer.withSession { $0.write(UInt64(self)) } }
}

extension UInt32: CBOREncodable {
  /// Writes the item that Codable would write.
  public func encode(into writer: inout CBORWriter) { writer.withSession { $0.write(UInt64(self)) } }
}

extension UInt64: CBOREncodable {
  /// Writes the item that Codable would write.
  public func encode(into writer: inout CBORWriter) { writer.withSession { $0.write(self) } }
}

extension UInt128: CBOREncodable {
  /// Writes the item that Codable would write.
  public func encode(into writer: inout CBORWriter) { writer.withSession { $0.write(self) } }
}

extension Date: CBOREncodable {
  /// Writes the item that Codable would write.
  public func encode(into writer: inout CBORWriter) { writer.withSession { $0.write(self) } }
}

extension Data: CBOREncodable {
  /// Writes the item that Codable would write.
  public func encode(into writer: inout CBORWriter) { writer.withSession { $0.write(self) } }
}

extension UUID: CBOREncodable {
  /// Writes the item that Codable would write.
  public func encode(into writer: inout CBORWriter) { writer.withSession { $0.write(self) } }
}

extension URL: CBOREncodable {
  /// Writes the item that Codable would write.
  public func encode(into writer: inout CBORWriter) { writer.withSession { $0.write(self) } }
}

extension Decimal: CBOREncodable {
  /// Writes the item that Codable would write.
  public func encode(into writer: inout CBORWriter) { writer.withSession { $0.write(self) } }
}

/// Enums with raw values, option sets and other wrappers need only declare the conformance: their item is that of the raw value.
extension CBOREncodable where Self: RawRepresentable, RawValue: CBOREncodable {
  /// Writes the item that Codable would write.
  @inlinable
  public func encode(into writer: inout CBORWriter) throws {
    try rawValue.encode(into: &writer)
  }
}
