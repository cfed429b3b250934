import Foundation
import Testing

@testable import esker_tool

@Suite struct HintTests {
  @Test(arguments: [
    (["put", "s", "k", "-5"], "esker put s k -- -5"), (["get", "s", "-k"], "esker get s -- -k"),
    (["delete", "s", "-a b", "-'"], #"esker delete s -- '-a b' '-'\'''"#),
    (["put", "s", "-k", "v", "--ttl", "5s"], nil),
  ])
  func aWordThatBeginsWithADashIsHintedAt(_ arguments: [String], _ command: String?) throws {
    let start = "put -- ahead of a key or value that begins with a dash"
    #expect(DashHint.text(for: arguments) == start + (command.map { ": \($0)" } ?? ""))
  }

  @Test(arguments: [
    ["put", "s", "k"], ["put", "s", "k", "--tll", "5s"], ["put", "s", "-q"], ["list", "s", "-k"],
    ["put", "s", "--", "-k"], [],
  ]) func nothingElseIs(_ arguments: [String]) { #expect(DashHint.text(for: arguments) == nil) }

  @Test func theCommandHintedAtIsRight() throws {
    let scratch = try Scratch()
    let result = try scratch.run("put", scratch.store, "k", "-5")
    #expect(result.status == 64)
    #expect(result.errors.hasPrefix("esker: put -- ahead of a key or value that begins with a dash: esker put "))
    #expect(try scratch.run("put", scratch.store, "k", "--", "-5").status == 0)
    #expect(try scratch.run("get", scratch.store, "k").text == "-5")
  }
}
