import ArgumentParser
import Foundation

/// A question before something is removed that cannot be had back.
struct Confirmation: ParsableArguments {
  @Flag(name: [.short, .long], help: "Do not ask on a terminal.")
  var yes = false

  /// Asks on a terminal; elsewhere nobody would answer. Not while the store is open for writing: others would wait for the answer, too.
  ///
  /// - Parameter question: What to ask; nil for nothing.
  /// - Throws: ``ToolError/notConfirmed`` unless the answer is yes.
  func require(_ question: () throws -> String?) throws {
    guard !yes, isatty(STDIN_FILENO) == 1, StandardError.isTerminal, let question = try question() else { return }
    StandardError.write("\(question) [y/N] ")
    var lines = try CommandLines()
    guard ["y", "yes"].contains(try lines.next()?.lowercased()) else { throw ToolError.notConfirmed }
  }
}
