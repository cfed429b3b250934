#if Macros
  import SwiftDiagnostics
  public import SwiftSyntax
  import SwiftSyntaxBuilder
  public import SwiftSyntaxMacros

  /// Writes an extension with the conformance to `CBOREncodable` and `CBORDecodable`.
  ///
  /// The code writes and reads what Codable's own conformance of the same declaration would, in the same order: that of the cases
  /// of `CodingKeys`, or of the stored properties.
  public struct CBORCodableMacro: ExtensionMacro {
    /// The extension; none if there is something to complain about.
    public static func expansion(
      of node: AttributeSyntax,
      attachedTo declaration: some DeclGroupSyntax,
      providingExtensionsOf type: some TypeSyntaxProtocol,
      conformingTo protocols: [TypeSyntax],
      in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
      do {
        let members = try members(of: declaration)
        return [try extending(type, of: declaration, with: members, conformingTo: protocols)]
      } catch let problem as Problem {
        context.diagnose(problem.diagnostic(attribute: node))
        return []
      }
    }

    /// The requirements of the protocols, unless the declaration is one whose raw value stands for it.
    private static func members(of declaration: some DeclGroupSyntax) throws -> [DeclSyntax] {
      if let enumeration = declaration.as(EnumDeclSyntax.self) {
        try checkRawValues(of: enumeration)
        return []
      }
      guard let structure = declaration.as(StructDeclSyntax.self) else {
        throw Problem(declaration, .notAStruct, removesAttribute: true)
      }
      if structure.inherits(from: ["RawRepresentable", "OptionSet"]) { return [] }
      try checkNotByHand(structure)
      return try coding(of: try Field.all(of: structure), access: structure.memberAccess)
    }

    private static func checkRawValues(of enumeration: EnumDeclSyntax) throws {
      for element in enumeration.elements where element.parameterClause != nil {
        throw Problem(element, .associatedValues(element.name.plainText), removesAttribute: true)
      }
      guard enumeration.inherits(from: rawTypes) else {
        throw Problem(enumeration.name, .noRawType(enumeration.name.plainText))
      }
      try checkNotByHand(enumeration)
    }

    private static let rawTypes: Set<String> = [
      "String", "Int", "Int8", "Int16", "Int32", "Int64", "Int128", "UInt", "UInt8", "UInt16", "UInt32", "UInt64",
      "UInt128",
      "Double", "Float",
    ]

    /// Refuses a type that has a form of its own.
    private static func checkNotByHand(_ declaration: some DeclGroupSyntax) throws {
      for member in declaration.memberBlock.members {
        if let function = member.decl.as(FunctionDeclSyntax.self), function.name.text == "encode",
          function.signature.parameterClause.parameters.map(\.firstName.text) == ["to"]
        {
          throw Problem(function.name, .byHand("encode(to:)"), removesAttribute: true)
        }
        if let initializer = member.decl.as(InitializerDeclSyntax.self),
          initializer.signature.parameterClause.parameters.map(\.firstName.text) == ["from"],
          initializer.signature.parameterClause.parameters.first?.type.trimmedDescription.hasSuffix("Decoder") == true
        {
          throw Problem(initializer.initKeyword, .byHand("init(from:)"), removesAttribute: true)
        }
      }
    }

    private static func extending(
      _ type: some TypeSyntaxProtocol,
      of declaration: some DeclGroupSyntax,
      with members: [DeclSyntax],
      conformingTo protocols: [TypeSyntax]
    ) throws -> ExtensionDeclSyntax {
      let names = protocols.map { "EskerCBOR.\($0.trimmedDescription.split(separator: ".").last ?? "")" }
      let conformances = names.isEmpty ? "" : ": \(names.joined(separator: ", "))"
      let conditions = declaration.genericConditions
      let header = "extension \(type.trimmedDescription)\(conformances)\(conditions)"
      return try ExtensionDeclSyntax("\(raw: header)") {
        for member in members { member }
      }
    }

    private static func coding(of fields: [Field], access: String) throws -> [DeclSyntax] {
      let writes = fields.map { "try writer.write(self.\($0.name), forKey: \($0.key.expression), in: &map)" }
      let reads = fields.filter(\.isDecoded).map {
        "self.\($0.name) = try reader.read(forKey: \($0.key.expression), in: &map)"
      }
      // What is never changed would be a warning.
      let encoding =
        ["\(writes.isEmpty ? "let" : "var") map = try writer.beginMap()"] + writes + ["try writer.end(map)"]
      var decoding = ["\(reads.isEmpty ? "let" : "var") map = try reader.beginMap()"] + reads + ["try reader.end(map)"]
      // Codable asks for no map where it has nothing to find in it.
      if fields.isEmpty { decoding = ["try reader.skip()"] }
      let encode: DeclSyntax = """
        \(raw: access)func encode(into writer: inout EskerCBOR.CBORWriter) throws {
        \(raw: encoding.joined(separator: "\n"))
        }
        """
      let decode: DeclSyntax = """
        \(raw: access)init(from reader: inout EskerCBOR.CBORReader) throws {
        \(raw: decoding.joined(separator: "\n"))
        }
        """
      return [encode, decode]
    }
  }
#endif
