/// A type that writes itself as CBOR without Codable's calls, and writes what it would write through them.
///
/// The macro `@CBORCodable` of EskerMacros writes the conformance of a struct. By hand:
///
/// ```swift
/// extension Point: CBOREncodable {
///   func encode(into writer: inout CBORWriter) throws {
///     var map = try writer.beginMap()
///     try writer.write(x, forKey: "x", in: &map)
///     try writer.write(y, forKey: "y", in: &map)
///     try writer.end(map)
///   }
/// }
/// ```
///
/// Coders use the conformance wherever they meet such a value, also inside of values that are encoded through Codable. So both
/// ways must give the same item. A class that conforms must be final: its subclasses would be written without what they add.
public protocol CBOREncodable: Encodable, SendableMetatype {
  /// Writes exactly one item.
  ///
  /// - Throws: what the writer throws. After an error what was written is incomplete: pass the error on.
  func encode(into writer: inout CBORWriter) throws
}
