import Foundation
import SwiftOperators
import SwiftParser
import SwiftSyntax

// Writes the mutants of the files that are its arguments, one in a line, as JSON with the file's path.
struct Line: Encodable {
  let file: String
  let mutant: Mutant
}

let encoder = JSONEncoder()
encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
for path in CommandLine.arguments.dropFirst() {
  let text = try String(contentsOfFile: path, encoding: .utf8)
  // Operators of the sources' own stay as they are.
  let tree = OperatorTable.standardOperators.foldAll(Parser.parse(source: text)) { _ in }
  guard let file = tree.as(SourceFileSyntax.self) else { continue }
  for mutant in MutantFinder(file).mutants {
    let line = try encoder.encode(Line(file: path, mutant: mutant))
    FileHandle.standardOutput.write(line + Data("\n".utf8))
  }
}
