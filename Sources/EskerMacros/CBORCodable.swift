#if Macros
  // The macro writes code that names what is in it.
  @_exported public import EskerCBOR

  /// Writes the conformance of a struct to `CBORCodable`, with which it is stored and read without Codable's calls: in the same
  /// bytes, with the same errors.
  ///
  /// ```swift
  /// @CBORCodable
  /// struct City: Codable {
  ///   var name: String
  ///   var population: Int?
  /// }
  /// ```
  ///
  /// `Codable` may be left out: it is implied. `CodingKeys` declared in the struct are respected, with their order, names and
  /// numbers; properties left out of them keep their defaults. An enum with raw values, or a struct that is declared to be
  /// `RawRepresentable`, is coded as its raw value.
  ///
  /// The macro sees the declaration only. An `encode(to:)`, an `init(from:)`, `CodingKeys` or a conformance to
  /// `RawRepresentable` in an extension are not taken into account, and what is written then differs from what Codable writes.
  @attached(extension, conformances: CBOREncodable, CBORDecodable, names: named(encode(into:)), named(init(from:)))
  public macro CBORCodable() = #externalMacro(module: "EskerMacrosPlugin", type: "CBORCodableMacro")
#endif
