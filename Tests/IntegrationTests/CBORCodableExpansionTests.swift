import MacroCode
import SwiftSyntax
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacrosGenericTestSupport
import Testing

/// What the macro writes, and what it says where it cannot.
@Suite struct CBORCodableExpansionTests {
  private func expect(
    _ source: String,
    expandsTo expanded: String,
    diagnostics: [DiagnosticSpec] = [],
    applyFixIts: [String]? = nil,
    fixedSource: String? = nil,
    sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) {
    assertMacroExpansion(
      source,
      expandedSource: expanded,
      diagnostics: diagnostics,
      macroSpecs: [
        "CBORCodable": MacroSpec(type: CBORCodableMacro.self, conformances: ["CBOREncodable", "CBORDecodable"])
      ],
      applyFixIts: applyFixIts,
      fixedSource: fixedSource,
      indentationWidth: .spaces(2),
      failureHandler: { failure in Issue.record("\(failure.message)", sourceLocation: sourceLocation) }
    )
  }

  /// Expects one diagnostic, and no extension.
  private func expect(
    _ source: String,
    says message: String,
    line: Int,
    column: Int,
    fixIts: [FixItSpec] = [],
    sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) {
    expect(
      "@CBORCodable\n" + source,
      expandsTo: source,
      diagnostics: [DiagnosticSpec(message: message, line: line, column: column, fixIts: fixIts)],
      sourceLocation: sourceLocation
    )
  }

  // MARK: Expansions

  @Test func aStructIsWrittenFieldByField() {
    expect(
      """
      @CBORCodable
      public struct Point: Codable {
        public var x: Double
        var name = "", `default`: Int?
        let constant = 1
        static var zero = 0
        var sum: Double { x }
      }
      """,
      expandsTo: """
        public struct Point: Codable {
          public var x: Double
          var name = "", `default`: Int?
          let constant = 1
          static var zero = 0
          var sum: Double { x }
        }

        extension Point: EskerCBOR.CBOREncodable, EskerCBOR.CBORDecodable {
          public func encode(into writer: inout EskerCBOR.CBORWriter) throws {
            var map = try writer.beginMap()
            try writer.write(self.x, forKey: EskerCBOR.CBORKey(_low: 0x7861, 0x0, length: 2, "x"), in: &map)
            try writer.write(self.name, forKey: EskerCBOR.CBORKey(_low: 0x656d616e64, 0x0, length: 5, "name"), in: &map)
            try writer.write(self.`default`, forKey: EskerCBOR.CBORKey(_low: 0x746c756166656467, 0x0, length: 8, "default"), in: &map)
            try writer.write(self.constant, forKey: EskerCBOR.CBORKey(_low: 0x6e6174736e6f6368, 0x74, length: 9, "constant"), in: &map)
            try writer.end(map)
          }
          public init(from reader: inout EskerCBOR.CBORReader) throws {
            var map = try reader.beginMap()
            self.x = try reader.read(forKey: EskerCBOR.CBORKey(_low: 0x7861, 0x0, length: 2, "x"), in: &map)
            self.name = try reader.read(forKey: EskerCBOR.CBORKey(_low: 0x656d616e64, 0x0, length: 5, "name"), in: &map)
            self.`default` = try reader.read(forKey: EskerCBOR.CBORKey(_low: 0x746c756166656467, 0x0, length: 8, "default"), in: &map)
            try reader.end(map)
          }
        }
        """
    )
  }

  @Test func codingKeysNameOrderAndOmitFields() {
    expect(
      """
      @CBORCodable
      struct Point: Codable {
        var x: Int
        var y: Int
        var cached = 0
        enum CodingKeys: String, CodingKey {
          case y = "a key of sixteen", x
        }
      }
      """,
      expandsTo: """
        struct Point: Codable {
          var x: Int
          var y: Int
          var cached = 0
          enum CodingKeys: String, CodingKey {
            case y = "a key of sixteen", x
          }
        }

        extension Point: EskerCBOR.CBOREncodable, EskerCBOR.CBORDecodable {
          func encode(into writer: inout EskerCBOR.CBORWriter) throws {
            var map = try writer.beginMap()
            try writer.write(self.y, forKey: EskerCBOR.CBORKey(stringLiteral: "a key of sixteen"), in: &map)
            try writer.write(self.x, forKey: EskerCBOR.CBORKey(_low: 0x7861, 0x0, length: 2, "x"), in: &map)
            try writer.end(map)
          }
          init(from reader: inout EskerCBOR.CBORReader) throws {
            var map = try reader.beginMap()
            self.y = try reader.read(forKey: EskerCBOR.CBORKey(stringLiteral: "a key of sixteen"), in: &map)
            self.x = try reader.read(forKey: EskerCBOR.CBORKey(_low: 0x7861, 0x0, length: 2, "x"), in: &map)
            try reader.end(map)
          }
        }
        """
    )
  }

  @Test func whatIsRawRepresentableIsItsRawValue() {
    expect(
      "@CBORCodable\nenum Color: String, Codable {\n  case red\n}",
      expandsTo: """
        enum Color: String, Codable {
          case red
        }

        extension Color: EskerCBOR.CBOREncodable, EskerCBOR.CBORDecodable {
        }
        """
    )
    expect(
      "@CBORCodable\nstruct Flags: OptionSet, Codable {\n  let rawValue: Int\n}",
      expandsTo: """
        struct Flags: OptionSet, Codable {
          let rawValue: Int
        }

        extension Flags: EskerCBOR.CBOREncodable, EskerCBOR.CBORDecodable {
        }
        """
    )
  }

  @Test func aGenericTypeThatIsNotAlwaysCodableHasConditions() {
    expect(
      "@CBORCodable\nstruct Empty<A, B: Hashable> {}",
      expandsTo: """
        struct Empty<A, B: Hashable> {}

        extension Empty: EskerCBOR.CBOREncodable, EskerCBOR.CBORDecodable where A: Codable, B: Codable {
          func encode(into writer: inout EskerCBOR.CBORWriter) throws {
            let map = try writer.beginMap()
            try writer.end(map)
          }
          init(from reader: inout EskerCBOR.CBORReader) throws {
            try reader.skip()
          }
        }
        """
    )
  }

  // MARK: Diagnostics

  private let removal = [FixItSpec(message: "Remove '@CBORCodable': Codable codes the type")]

  @Test func classesAreRefused() {
    let message =
      "'@CBORCodable' is for structs and for enums with raw values: subclasses of a class would be coded without what they add"
    expect("final class User: Codable {}", says: message, line: 1, column: 1, fixIts: removal)
    expect("actor User {}", says: message, line: 1, column: 1, fixIts: removal)
  }

  @Test func enumsWithoutRawValuesAreRefused() {
    expect(
      "enum Shape: Codable {\n  case dot, circle(radius: Double)\n}",
      says: "'@CBORCodable' is for enums with raw values, and 'circle' has associated values",
      line: 3,
      column: 13,
      fixIts: removal
    )
    expect(
      "enum Shape: Codable {\n  case dot\n}",
      says:
        "'@CBORCodable' is for enums with raw values: give 'Shape' a raw type, such as String, or leave it to Codable",
      line: 2,
      column: 6
    )
  }

  @Test func typesCodedByHandAreRefused() {
    expect(
      """
      struct User: Codable {
        func encode(to encoder: any Encoder) throws {}
      }
      """,
      says: "'@CBORCodable' writes what Codable synthesizes, and this type has an 'encode(to:)' of its own",
      line: 3,
      column: 8,
      fixIts: removal
    )
    expect(
      """
      struct User: Codable {
        init(from decoder: any Decoder) throws {}
      }
      """,
      says: "'@CBORCodable' writes what Codable synthesizes, and this type has an 'init(from:)' of its own",
      line: 3,
      column: 3,
      fixIts: removal
    )
  }

  @Test func propertiesThatCannotBeSeenThroughAreRefused() {
    expect(
      "struct User: Codable {\n  @Clamped var age: Int\n}",
      says:
        "'@CBORCodable' cannot see how the property wrapper of 'age' is coded: leave 'age' out of 'CodingKeys', or store it without",
      line: 3,
      column: 3
    )
    expect(
      "struct User: Codable {\n  lazy var age = 1\n}",
      says: "'@CBORCodable' does not code lazy properties: leave 'age' out of 'CodingKeys'",
      line: 3,
      column: 12
    )
    expect(
      "struct User: Codable {\n  var (x, y) = (1, 2)\n}",
      says: "'@CBORCodable' needs a declaration for each stored property, not a tuple of them",
      line: 3,
      column: 7
    )
    expect(
      """
      struct User: Codable {
        #if DEBUG
        var x: Int
        #endif
      }
      """,
      says:
        "'@CBORCodable' cannot tell which stored properties there are, since some stand between '#if' and '#endif'",
      line: 3,
      column: 3
    )
  }

  @Test func codingKeysThatAreNotPlainAreRefused() {
    expect(
      "struct User: Codable {\n  var age: Int\n  enum CodingKeys: CodingKey {\n  }\n}",
      says: "'age' is left out of 'CodingKeys', so it needs a default value",
      line: 3,
      column: 7
    )
    expect(
      "struct User: Codable {\n  enum CodingKeys: CodingKey {\n    case age\n  }\n}",
      says: "'CodingKeys' has a case 'age', and there is no stored property of that name",
      line: 4,
      column: 10
    )
    expect(
      "struct User: Codable {\n  typealias CodingKeys = Keys\n}",
      says: "'@CBORCodable' needs 'CodingKeys' to be an enum that is declared here",
      line: 3,
      column: 13
    )
    expect(
      "struct User: Codable {\n  var a: Int\n  enum CodingKeys: CodingKey {\n    case a\n    var stringValue: String {\n      \"b\"\n    }\n  }\n}",
      says: "'@CBORCodable' needs a 'CodingKeys' that has cases only, with raw values or without",
      line: 6,
      column: 5
    )
    expect(
      "struct User: Codable {\n  var a: Int\n  enum CodingKeys: String, CodingKey {\n    case a = \"\\(1)\"\n  }\n}",
      says: "'@CBORCodable' needs the raw values of 'CodingKeys' to be plain literals",
      line: 5,
      column: 14
    )
  }

  @Test func theAttributeIsRemovedWhereCodableMustDo() {
    expect(
      "@CBORCodable\nenum Shape: Codable {\n  case circle(Double)\n}",
      expandsTo: "enum Shape: Codable {\n  case circle(Double)\n}",
      diagnostics: [
        DiagnosticSpec(
          message: "'@CBORCodable' is for enums with raw values, and 'circle' has associated values",
          line: 3,
          column: 8,
          fixIts: removal
        )
      ],
      applyFixIts: ["Remove '@CBORCodable': Codable codes the type"],
      fixedSource: "\nenum Shape: Codable {\n  case circle(Double)\n}"
    )
  }
}
