import SwiftOperators
import SwiftParser
import SwiftSyntax
import Testing

@testable import esker_mutants

/// What becomes of small sources.
struct MutantFinderTests {
  @Test func aCallAndAnAssignmentAreDropped() throws {
    #expect(
      try changed(.dropStatement, in: "func f() throws {\n  try a.sync()\n  count += 1\n  let x = 1\n}")
        == [
          "func f() throws {\n  if !isPlanted { try a.sync() }\n  count += 1\n  let x = 1\n}",
          "func f() throws {\n  try a.sync()\n  if !isPlanted { count += 1 }\n  let x = 1\n}",
        ]
    )
  }

  @Test(arguments: [
    "func f() -> Int { g() }",
    "let f = { g() }",
    "var f: Int { g() }",
    "func f() -> Int { if a { g() } else { h() } }",
    "init() { count = 1 }",
    "func f() { let a: Int; a = 1 }",
    "func f() { precondition(a) }",
    "func f() { defer { g() } }",
  ])
  func whatIsAValueOrAFirstOneOrUnseenStays(source: String) throws {
    #expect(try changed(.dropStatement, in: source).isEmpty)
  }

  @Test func eachConditionIsTurned() throws {
    #expect(
      try changed(.turnCondition, in: "func f() { guard a, let b = c, b.d else { return } }")
        == [
          "func f() { guard (isPlanted != (a)), let b = c, b.d else { return } }",
          "func f() { guard a, let b = c, (isPlanted != (b.d)) else { return } }",
        ]
    )
    #expect(try changed(.turnCondition, in: "func f() { while true { g() } }").isEmpty)
  }

  @Test func aBoundAndANumberAreOffByOne() throws {
    #expect(
      try changed(.offByOne, in: "let a = b + 8 < c")
        == ["let a = (isPlanted ? b + 8 <= c : b + 8 < c)", "let a = b + (isPlanted ? 8 + 1 : 8) < c"]
    )
    #expect(try changed(.offByOne, in: "let size = 8\nlet a = c < (try b())\nlet d = -1").isEmpty)
    #expect(try changed(.offByOne, in: "for a in 0..<b { unsafe prefetch(c[a + 1]) }").isEmpty)
    #expect(try !changed(.offByOne, in: "for a in 0..<b { prefetch(c[a]); d(a) }").isEmpty)
  }

  @Test func twoCallsAreSwapped() throws {
    #expect(
      try changed(.swapCalls, in: "func f() {\n  a()\n  b()\n  c = 1\n  d()\n}")
        == ["func f() {\n  if isPlanted { b() }; a()\n  if !isPlanted { b() }\n  c = 1\n  d()\n}"]
    )
  }

  /// The sources with each mutant of a kind; what is made can be parsed.
  private func changed(_ kind: Mutant.Kind, in source: String) throws -> [String] {
    let tree = OperatorTable.standardOperators.foldAll(Parser.parse(source: source)) { _ in }
    let mutants = MutantFinder(try #require(tree.as(SourceFileSyntax.self))).mutants
    return mutants.filter { $0.kind == kind }.map { mutant in
      var bytes = Array(source.utf8)
      for wrap in mutant.wraps.sorted(by: { $0.start > $1.start }) {
        bytes.insert(contentsOf: wrap.suffix.utf8, at: wrap.end)
        bytes.insert(contentsOf: wrap.prefix.utf8, at: wrap.start)
      }
      let text = String(decoding: bytes, as: UTF8.self)
      #expect(!Parser.parse(source: text).hasError, "\(text)")
      return text
    }
  }
}
