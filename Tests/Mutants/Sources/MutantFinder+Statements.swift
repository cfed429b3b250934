import SwiftSyntax

extension MutantFinder {
  /// Leaves out a call or an assignment.
  func dropStatements(in list: CodeBlockItemListSyntax) {
    for item in list {
      guard let statement = Statement(item), statement.canBeDropped, !item.mayBeValue else { continue }
      add(.dropStatement, at: item, "without \(item.shown)", [Mutant.Wrap(item, "if !isPlanted { ", " }")])
    }
  }

  /// Does the second of two calls first.
  func swapCalls(in list: CodeBlockItemListSyntax) {
    for (first, second) in zip(list, list.dropFirst()) {
      guard let a = Statement(first), let b = Statement(second), a.isCall, b.isCall, a.canBeDropped, b.canBeDropped,
        first.trimmedDescription != second.trimmedDescription,
        // It is written once more, in the line of the first.
        firstLine(of: second) == lastLine(of: second)
      else { continue }
      let text = second.trimmedDescription
      add(
        .swapCalls,
        at: first,
        "\(second.shown) before \(first.shown)",
        [
          Mutant.Wrap(first, "if isPlanted { \(text) }; ", ""),
          Mutant.Wrap(second, "if !isPlanted { ", " }"),
        ]
      )
    }
  }
}

/// A call or an assignment that stands for itself.
private struct Statement {
  private let expression: ExprSyntax

  init?(_ item: CodeBlockItemSyntax) {
    guard case .expr(let whole) = item.item else { return nil }
    expression = whole.withoutEffects
    guard isCall || target != nil else { return nil }
  }

  var isCall: Bool { call != nil }

  private var call: FunctionCallExprSyntax? {
    if let value = discarded { return value.as(FunctionCallExprSyntax.self) }
    return expression.as(FunctionCallExprSyntax.self)
  }

  /// The right side of `_ = …`.
  private var discarded: ExprSyntax? {
    guard let infix = expression.as(InfixOperatorExprSyntax.self),
      infix.leftOperand.is(DiscardAssignmentExprSyntax.self)
    else { return nil }
    return infix.rightOperand.withoutEffects
  }

  /// The left side of an assignment.
  private var target: ExprSyntax? {
    guard let infix = expression.as(InfixOperatorExprSyntax.self), discarded == nil else { return nil }
    if infix.operator.is(AssignmentExprSyntax.self) { return infix.leftOperand.withoutEffects }
    guard let sign = infix.operator.as(BinaryOperatorExprSyntax.self)?.operator.text,
      sign.hasSuffix("="), !["==", "!=", "<=", ">=", "===", "!==", "~="].contains(sign)
    else { return nil }
    return infix.leftOperand.withoutEffects
  }

  var canBeDropped: Bool {
    if let call { return !Callee.isUnseen(call) && !Callee.isValue(call) }
    guard let target else { return false }
    return !initializes(target)
  }

  /// Whether a variable may get its first value here.
  private func initializes(_ target: ExprSyntax) -> Bool {
    for node in sequence(first: Syntax(target), next: \.parent) {
      if node.is(InitializerDeclSyntax.self) { return true }
      guard let list = node.as(CodeBlockItemListSyntax.self) else { continue }
      if list.contains(where: { $0.declares(target.trimmedDescription) }) { return true }
    }
    return false
  }
}

extension CodeBlockItemSyntax {
  /// Whether it declares a variable that gets its value later.
  fileprivate func declares(_ name: String) -> Bool {
    guard case .decl(let declaration) = item, let variable = declaration.as(VariableDeclSyntax.self) else {
      return false
    }
    return variable.bindings.contains { $0.initializer == nil && $0.pattern.trimmedDescription == name }
  }

  /// Whether its value may be that of the function, closure, `if` or `switch` in which it stands alone.
  fileprivate var mayBeValue: Bool {
    guard let list = parent?.as(CodeBlockItemListSyntax.self), list.count == 1, var owner = list.parent else {
      return false
    }
    if owner.is(CodeBlockSyntax.self), let parent = owner.parent { owner = parent }
    while owner.parent?.is(IfExprSyntax.self) == true, let parent = owner.parent { owner = parent }
    if owner.is(SwitchCaseSyntax.self), let whole = owner.parent?.parent { owner = whole }
    if owner.is(IfExprSyntax.self) || owner.is(SwitchExprSyntax.self) {
      // A statement, not the value of one.
      let statement = owner.parent?.is(ExpressionStmtSyntax.self) == true ? owner.parent : owner
      return statement?.parent?.as(CodeBlockItemSyntax.self)?.mayBeValue ?? true
    }
    if let function = owner.as(FunctionDeclSyntax.self) { return function.signature.returnClause != nil }
    if let accessor = owner.as(AccessorDeclSyntax.self) {
      return accessor.accessorSpecifier.tokenKind == .keyword(.get)
    }
    return owner.is(ClosureExprSyntax.self) || owner.is(AccessorBlockSyntax.self)
  }
}

extension ExprSyntax {
  /// Without `try`, `await` and `unsafe`.
  var withoutEffects: ExprSyntax {
    if let inner = self.as(TryExprSyntax.self) { return inner.expression.withoutEffects }
    if let inner = self.as(AwaitExprSyntax.self) { return inner.expression.withoutEffects }
    if let inner = self.as(UnsafeExprSyntax.self) { return inner.expression.withoutEffects }
    return self
  }
}
