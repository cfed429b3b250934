import SwiftSyntax

/// Finds the mutants of a file that compile, as far as its syntax tells, and change something that tests could see.
final class MutantFinder: SyntaxVisitor {
  private(set) var mutants: [Mutant] = []
  private let locations: SourceLocationConverter

  init(_ file: SourceFileSyntax) {
    locations = SourceLocationConverter(fileName: "", tree: file)
    super.init(viewMode: .sourceAccurate)
    walk(file)
  }

  func add(_ kind: Mutant.Kind, at node: some SyntaxProtocol, _ change: String, _ wraps: [Mutant.Wrap]) {
    mutants.append(
      Mutant(kind: kind, line: firstLine(of: node), lastLine: lastLine(of: node), change: change, wraps: wraps)
    )
  }

  func firstLine(of node: some SyntaxProtocol) -> Int {
    node.startLocation(converter: locations).line
  }

  func lastLine(of node: some SyntaxProtocol) -> Int {
    node.endLocation(converter: locations).line
  }

  // MARK: Where no mutant is

  override func visit(_ node: IfConfigDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
  override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
  override func visit(_ node: EnumCaseDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
  override func visit(_ node: DeferStmtSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
  /// The words of an error.
  override func visit(_ node: ThrowStmtSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
  override func visit(_ node: StringLiteralExprSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
  override func visit(_ node: ExpressionPatternSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
  /// Numbers in a type are no expressions.
  override func visit(_ node: GenericArgumentClauseSyntax) -> SyntaxVisitorContinueKind { .skipChildren }

  override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
    Callee.isUnseen(node) ? .skipChildren : .visitChildren
  }

  override func visit(_ node: ForStmtSyntax) -> SyntaxVisitorContinueKind {
    Callee.areUnseen(node.body) ? .skipChildren : .visitChildren
  }

  // MARK: Where they are

  override func visit(_ node: CodeBlockItemListSyntax) -> SyntaxVisitorContinueKind {
    dropStatements(in: node)
    swapCalls(in: node)
    return .visitChildren
  }

  override func visit(_ node: ConditionElementSyntax) -> SyntaxVisitorContinueKind {
    if case .expression(let condition) = node.condition { turn(condition) }
    return .visitChildren
  }

  override func visit(_ node: InfixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
    moveBound(of: node)
    return .visitChildren
  }

  override func visit(_ node: IntegerLiteralExprSyntax) -> SyntaxVisitorContinueKind {
    addOne(to: node)
    return .visitChildren
  }
}

extension Mutant.Wrap {
  init(_ node: some SyntaxProtocol, _ prefix: String, _ suffix: String) {
    self.init(
      start: node.positionAfterSkippingLeadingTrivia.utf8Offset,
      end: node.endPositionBeforeTrailingTrivia.utf8Offset,
      prefix: prefix,
      suffix: suffix
    )
  }
}
