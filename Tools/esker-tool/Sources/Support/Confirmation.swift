import ArgumentParser
import Foundation

/// A question before something is removed that cannot be had back.
struct Confirmation: ParsableArguments {
  @Flag(name: [.short, .long], help: "Do not ask on a terminal.")
  var yes = false

  /// Asks on a terminal; elsewhere nobody would answer.
  ///
  /// - Throws: ``ToolError/notConfirmed`` unless the answer is yes.
  func require(_ question: String) throws(ToolError) {
    guard !yes, isatty(STDIN_FILENO) == 1, StandardError.isTerminal else { return }
    StandardError.write("\(question) [y/N] ")
    var lines = try CommandLines()
    guard ["y", "yes"].contains(try lines.next()?.lowercased()) else { throw .notConfirmed }
  }
}
