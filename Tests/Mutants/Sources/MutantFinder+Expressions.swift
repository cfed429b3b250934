import SwiftSyntax

extension MutantFinder {
  /// `condition` → `!condition`. Not of `while true`, behind which the compiler expects nothing.
  func turn(_ condition: ExprSyntax) {
    guard !condition.is(BooleanLiteralExprSyntax.self) else { return }
    add(
      .turnCondition,
      at: condition,
      "\(condition.shown) → not",
      [Mutant.Wrap(condition, "(isPlanted != (", "))")]
    )
  }

  private static let bounds = ["<": "<=", "<=": "<", ">": ">=", ">=": ">"]

  /// `a < b` → `a <= b`, and the like.
  func moveBound(of comparison: InfixOperatorExprSyntax) {
    guard let sign = comparison.operator.as(BinaryOperatorExprSyntax.self)?.operator.text,
      let other = Self.bounds[sign],
      // It is written once more, in the same line.
      firstLine(of: comparison) == lastLine(of: comparison), !comparison.hasEffects
    else { return }
    let (left, right) = (comparison.leftOperand.trimmedDescription, comparison.rightOperand.trimmedDescription)
    add(
      .offByOne,
      at: comparison,
      "\(comparison.shown) → \(other)",
      [Mutant.Wrap(comparison, "(isPlanted ? \(left) \(other) \(right) : ", ")")]
    )
  }

  /// `8` → `8 + 1`.
  func addOne(to literal: IntegerLiteralExprSyntax) {
    // A constant of its own is mostly one that somebody has chosen, such as the size of a buffer: any other would do.
    if literal.parent?.is(InitializerClauseSyntax.self) == true
      || literal.parent?.is(PrefixOperatorExprSyntax.self) == true
    {
      return
    }
    let text = literal.literal.text
    add(
      .offByOne,
      at: literal,
      "\(text) → \(text) + 1 in \(literal.surroundings)",
      [Mutant.Wrap(literal, "(isPlanted ? \(text) + 1 : ", ")")]
    )
  }
}

extension SyntaxProtocol {
  /// Its words in one line, not too many.
  var shown: String {
    let words = trimmedDescription.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    return words.count <= 80 ? words : words.prefix(79) + "…"
  }

  /// Whether something in it stands behind `try`, `await` or `unsafe`, which say so for the whole of an expression.
  var hasEffects: Bool {
    tokens(viewMode: .sourceAccurate).contains {
      [.keyword(.try), .keyword(.await), .keyword(.unsafe)].contains($0.tokenKind)
    }
  }
}

extension IntegerLiteralExprSyntax {
  /// What it is part of, as it alone says little.
  fileprivate var surroundings: String {
    var node = Syntax(self)
    while let parent = node.parent, parent.trimmedDescription.count <= 80, !parent.is(CodeBlockItemListSyntax.self) {
      node = parent
    }
    return node.shown
  }
}
