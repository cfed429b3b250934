#if Macros
  import SwiftSyntax

  extension TokenSyntax {
    /// The name without the backticks around it.
    var plainText: String {
      let name = text
      return name.hasPrefix("`") && name.hasSuffix("`") && name.count > 2 ? String(name.dropFirst().dropLast()) : name
    }
  }

  extension DeclGroupSyntax {
    /// Whether one of the types that are inherited is named so, with a module before it or without.
    func inherits(from names: Set<String>) -> Bool {
      inheritanceClause?.inheritedTypes.contains { inherited in
        inherited.type.trimmedDescription.split(separator: ".").last.map { names.contains(String($0)) } ?? false
      } ?? false
    }

    /// What stands before members that are to be as visible as the type.
    var memberAccess: String {
      for modifier in modifiers {
        switch modifier.name.tokenKind {
        case .keyword(.public), .keyword(.open): return "public "
        case .keyword(.package): return "package "
        default: continue
        }
      }
      return ""
    }

    /// The conditions under which a generic type is Codable, if it does not say itself that it always is: as far as the
    /// declaration shows, that its parameters are.
    var genericConditions: String {
      guard !inherits(from: ["Codable", "Encodable", "Decodable", "CBORCodable", "CBOREncodable", "CBORDecodable"]),
        let parameters = asProtocol((any WithGenericParametersSyntax).self)?.genericParameterClause?.parameters
      else { return "" }
      return " where " + parameters.map { "\($0.name.text): Codable" }.joined(separator: ", ")
    }
  }

  extension EnumDeclSyntax {
    var elements: [EnumCaseElementSyntax] {
      memberBlock.members.compactMap { $0.decl.as(EnumCaseDeclSyntax.self) }.flatMap { Array($0.elements) }
    }
  }
#endif
