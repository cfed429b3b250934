import SwiftSyntax

/// Calls of which no test could tell whether they are there, and others that are left alone.
enum Callee {
  private static let unseen: Set = [
    // Never return, or do nothing if all is well.
    "assert", "assertionFailure", "fatalError", "precondition", "preconditionFailure", "checkInvariants",
    // Delegations.
    "init",
    // Only make things faster.
    "advise", "bringInNextSplit", "detach", "detachUnsynced", "esker_prefetch", "expect", "fetch", "gather", "letGo",
    "pageIn",
    "pageInWhole", "populateForReading", "preferHugePages", "preferSmallPages", "prefetch", "prefetchForReading",
    "prefetchRest", "reserveCapacity", "setReadAhead", "touch", "yieldThread",
    // Only give memory or addresses back, or ask for some: more would do.
    "allocate", "deallocate", "free", "trim", "unmap",
    // Only keep something alive.
    "withExtendedLifetime",
  ]

  /// Whether a loop does nothing else.
  static func areUnseen(_ body: CodeBlockSyntax) -> Bool {
    !body.statements.isEmpty
      && body.statements.allSatisfy { item in
        guard case .expr(let expression) = item.item else { return false }
        return expression.withoutEffects.as(FunctionCallExprSyntax.self).map(isUnseen) ?? false
      }
  }

  static func isUnseen(_ call: FunctionCallExprSyntax) -> Bool {
    if let name = call.calledExpression.as(DeclReferenceExprSyntax.self) { return unseen.contains(name.baseName.text) }
    if let member = call.calledExpression.as(MemberAccessExprSyntax.self) {
      return unseen.contains(member.declName.baseName.text)
    }
    return false
  }

  /// Whether it makes a value of a type that the compiler knows from around it, as `.some(1)` does.
  static func isValue(_ call: FunctionCallExprSyntax) -> Bool {
    call.calledExpression.as(MemberAccessExprSyntax.self).map { $0.base == nil } ?? false
  }
}
