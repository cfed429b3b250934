/// A type that reads itself from CBOR without Codable's calls, and accepts what it would accept through them.
///
/// The macro `@CBORCodable` of EskerMacros writes the conformance of a struct. By hand:
///
/// ```swift
/// extension Point: CBORDecodable {
///   init(from reader: inout CBORReader) throws {
///     var map = try reader.beginMap()
///     x = try reader.read(forKey: "x", in: &map)
///     y = try reader.read(forKey: "y", in: &map)
///     try reader.end(map)
///   }
/// }
/// ```
///
/// Entries may be read in any order; those that are read in the order in which they were written are found at once. Coders use
/// the conformance wherever they meet such a value, also inside of values that are decoded through Codable.
public protocol CBORDecodable: Decodable, SendableMetatype {
  /// Reads exactly one item.
  ///
  /// - Throws: what the reader throws. After an error the reader's position is unknown: pass the error on.
  init(from reader: inout CBORReader) throws
}
