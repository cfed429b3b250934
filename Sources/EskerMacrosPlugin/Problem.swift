#if Macros
  import SwiftDiagnostics
  import SwiftSyntax

  /// Why the macro cannot write the conformance, and where.
  struct Problem: Error {
    enum Kind {
      case notAStruct
      case associatedValues(String)
      case noRawType(String)
      case byHand(String)
      case conditionalProperty
      case tuple
      case wrapper(String)
      case lazy(String)
      case leftOut(String)
      case noProperty(String)
      case keysElsewhere
      case keysOfTheirOwn
      case keyNotALiteral
    }

    let node: Syntax
    let kind: Kind
    /// Whether there is no other way than to leave the type to Codable.
    let removesAttribute: Bool

    init(_ node: some SyntaxProtocol, _ kind: Kind, removesAttribute: Bool = false) {
      self.node = Syntax(node)
      self.kind = kind
      self.removesAttribute = removesAttribute
    }

    func diagnostic(attribute: AttributeSyntax) -> Diagnostic {
      let fixIts = removesAttribute ? [removal(of: attribute)] : []
      return Diagnostic(node: node, message: kind, fixIts: fixIts)
    }

    private func removal(of attribute: AttributeSyntax) -> FixIt {
      FixIt(
        message: Removal(),
        changes: [
          .replace(oldNode: Syntax(attribute), newNode: Syntax(TokenSyntax(.identifier(""), presence: .missing)))
        ]
      )
    }

    private struct Removal: FixItMessage {
      let message = "Remove '@CBORCodable': Codable codes the type"
      let fixItID = MessageID(domain: "EskerMacros", id: "removal")
    }
  }

  extension Problem.Kind: DiagnosticMessage {
    var severity: DiagnosticSeverity { .error }

    var diagnosticID: MessageID {
      let label = Mirror(reflecting: self).children.first?.label ?? "\(self)"
      return MessageID(domain: "EskerMacros", id: label)
    }

    var message: String {
      switch self {
      case .notAStruct:
        "'@CBORCodable' is for structs and for enums with raw values: subclasses of a class would be coded without what they add"
      case .associatedValues(let name):
        "'@CBORCodable' is for enums with raw values, and '\(name)' has associated values"
      case .noRawType(let name):
        "'@CBORCodable' is for enums with raw values: give '\(name)' a raw type, such as String, or leave it to Codable"
      case .byHand(let name):
        "'@CBORCodable' writes what Codable synthesizes, and this type has an '\(name)' of its own"
      case .conditionalProperty:
        "'@CBORCodable' cannot tell which stored properties there are, since some stand between '#if' and '#endif'"
      case .tuple:
        "'@CBORCodable' needs a declaration for each stored property, not a tuple of them"
      case .wrapper(let name):
        "'@CBORCodable' cannot see how the property wrapper of '\(name)' is coded: leave '\(name)' out of 'CodingKeys', or store it without"
      case .lazy(let name):
        "'@CBORCodable' does not code lazy properties: leave '\(name)' out of 'CodingKeys'"
      case .leftOut(let name):
        "'\(name)' is left out of 'CodingKeys', so it needs a default value"
      case .noProperty(let name):
        "'CodingKeys' has a case '\(name)', and there is no stored property of that name"
      case .keysElsewhere:
        "'@CBORCodable' needs 'CodingKeys' to be an enum that is declared here"
      case .keysOfTheirOwn:
        "'@CBORCodable' needs a 'CodingKeys' that has cases only, with raw values or without"
      case .keyNotALiteral:
        "'@CBORCodable' needs the raw values of 'CodingKeys' to be plain literals"
      }
    }
  }
#endif
