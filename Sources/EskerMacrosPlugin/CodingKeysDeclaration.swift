#if Macros
  import SwiftSyntax

  /// The enum `CodingKeys` of a struct.
  struct CodingKeysDeclaration {
    struct Case {
      let name: String
      let key: FieldKey
      let syntax: TokenSyntax
    }

    let cases: [Case]

    /// Nil if the struct declares none.
    init?(in structure: StructDeclSyntax) throws {
      for member in structure.memberBlock.members {
        if let alias = member.decl.as(TypeAliasDeclSyntax.self), alias.name.text == "CodingKeys" {
          throw Problem(alias.name, .keysElsewhere)
        }
        if let other = member.decl.as(StructDeclSyntax.self), other.name.text == "CodingKeys" {
          throw Problem(other.name, .keysElsewhere)
        }
      }
      let enums = structure.memberBlock.members.lazy.compactMap { $0.decl.as(EnumDeclSyntax.self) }
      guard let declaration = enums.first(where: { $0.name.text == "CodingKeys" }) else { return nil }
      for member in declaration.memberBlock.members where !member.decl.is(EnumCaseDeclSyntax.self) {
        throw Problem(member.decl, .keysOfTheirOwn)
      }
      cases = try Self.cases(of: declaration)
    }

    private static func cases(of declaration: EnumDeclSyntax) throws -> [Case] {
      let areIntegers = declaration.inherits(from: ["Int"])
      var next = 0
      return try declaration.elements.map { element in
        let name = element.name.plainText
        if areIntegers {
          if let value = element.rawValue?.value { next = try integer(value) }
          defer { next &+= 1 }
          return Case(name: name, key: .integer(next, name: name), syntax: element.name)
        }
        let text = try element.rawValue.map { try Self.text($0.value) }
        return Case(name: name, key: .text(text ?? name), syntax: element.name)
      }
    }

    private static func text(_ value: ExprSyntax) throws -> String {
      guard let text = value.as(StringLiteralExprSyntax.self)?.representedLiteralValue else {
        throw Problem(value, .keyNotALiteral)
      }
      return text
    }

    private static func integer(_ value: ExprSyntax) throws -> Int {
      if let number = value.as(IntegerLiteralExprSyntax.self)?.representedLiteralValue { return number }
      if let prefixed = value.as(PrefixOperatorExprSyntax.self), prefixed.operator.text == "-",
        let number = prefixed.expression.as(IntegerLiteralExprSyntax.self)?.representedLiteralValue
      {
        return -number
      }
      throw Problem(value, .keyNotALiteral)
    }
  }
#endif
