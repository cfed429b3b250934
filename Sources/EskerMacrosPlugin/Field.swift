#if Macros
  import SwiftSyntax

  /// A stored property that is coded.
  struct Field {
    /// As it is spelled in code, with the backticks that it needs.
    let name: String
    let key: FieldKey
    /// Not a constant that has its value already: Codable writes such, and does not read them.
    let isDecoded: Bool

    /// The fields of a struct, in the order in which Codable writes them.
    static func all(of structure: StructDeclSyntax) throws -> [Field] {
      let properties = try StoredProperty.all(of: structure)
      guard let keys = try CodingKeysDeclaration(in: structure) else {
        return try properties.map { property in try property.field(key: .text(property.name.plainText)) }
      }
      for property in properties where !property.hasDefault {
        if !keys.cases.contains(where: { $0.name == property.name.plainText }) {
          throw Problem(property.name, .leftOut(property.name.plainText))
        }
      }
      return try keys.cases.map { key in
        guard let property = properties.first(where: { $0.name.plainText == key.name }) else {
          throw Problem(key.syntax, .noProperty(key.name))
        }
        return try property.field(key: key.key)
      }
    }
  }

  /// A stored property of a struct.
  struct StoredProperty {
    let name: TokenSyntax
    let isConstant: Bool
    /// Whether it has a value without being given one.
    let hasDefault: Bool
    let hasInitialValue: Bool
    /// Why it cannot be coded.
    let obstacle: Problem?

    func field(key: FieldKey) throws -> Field {
      if let obstacle { throw obstacle }
      return Field(name: name.text, key: key, isDecoded: !(isConstant && hasInitialValue))
    }

    static func all(of structure: StructDeclSyntax) throws -> [StoredProperty] {
      var properties: [StoredProperty] = []
      for member in structure.memberBlock.members {
        if let conditional = member.decl.as(IfConfigDeclSyntax.self), conditional.holdsProperties {
          throw Problem(conditional, .conditionalProperty)
        }
        guard let variable = member.decl.as(VariableDeclSyntax.self), !variable.isStatic else { continue }
        for binding in variable.bindings where !binding.isComputed {
          guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier else {
            throw Problem(binding.pattern, .tuple)
          }
          properties.append(StoredProperty(name, binding, of: variable))
        }
      }
      return properties
    }

    private init(_ name: TokenSyntax, _ binding: PatternBindingSyntax, of variable: VariableDeclSyntax) {
      self.name = name
      isConstant = variable.bindingSpecifier.tokenKind == .keyword(.let)
      hasInitialValue = binding.initializer != nil
      let isOptional =
        binding.typeAnnotation.map { annotation in
          annotation.type.is(OptionalTypeSyntax.self) || annotation.type.is(ImplicitlyUnwrappedOptionalTypeSyntax.self)
        } ?? false
      let wrapper = variable.wrapper
      hasDefault = hasInitialValue || !isConstant && isOptional || wrapper != nil
      if let wrapper {
        obstacle = Problem(wrapper, .wrapper(name.plainText))
      } else if variable.modifiers.contains(where: { $0.name.tokenKind == .keyword(.lazy) }) {
        obstacle = Problem(name, .lazy(name.plainText))
      } else {
        obstacle = nil
      }
    }
  }

  extension VariableDeclSyntax {
    fileprivate var isStatic: Bool {
      modifiers.contains { $0.name.tokenKind == .keyword(.static) || $0.name.tokenKind == .keyword(.class) }
    }

    /// A property wrapper: attributes of the language begin in lower case, but for global actors.
    fileprivate var wrapper: AttributeSyntax? {
      attributes.lazy.compactMap { $0.as(AttributeSyntax.self) }.first { attribute in
        let name = attribute.attributeName.trimmedDescription
        return name.first?.isUppercase == true && name != "MainActor"
      }
    }
  }

  extension PatternBindingSyntax {
    /// Whether it has accessors other than observers.
    fileprivate var isComputed: Bool {
      switch accessorBlock?.accessors {
      case nil: false
      case .getter: true
      case .accessors(let accessors):
        !accessors.allSatisfy {
          $0.accessorSpecifier.tokenKind == .keyword(.willSet) || $0.accessorSpecifier.tokenKind == .keyword(.didSet)
        }
      }
    }
  }

  extension IfConfigDeclSyntax {
    /// Whether a stored property may stand in one of the branches.
    fileprivate var holdsProperties: Bool {
      clauses.contains { clause in
        guard case .decls(let members) = clause.elements else { return false }
        return members.contains { member in
          if let inner = member.decl.as(IfConfigDeclSyntax.self) { return inner.holdsProperties }
          guard let variable = member.decl.as(VariableDeclSyntax.self) else { return false }
          return !variable.isStatic && variable.bindings.contains { !$0.isComputed }
        }
      }
    }
  }
#endif
