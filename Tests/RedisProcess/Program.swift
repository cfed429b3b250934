import Foundation

/// One of several processes that share a remote store, for tests that stop and kill them:
///
///     esker-redis-process history|watch|fill|check NAME=VALUE...
///
/// Ends when its standard input does, so it does not outlive the test.
@main
enum Program {
  static func main() async {
    let arguments = Arguments(CommandLine.arguments.dropFirst(2))
    do {
      switch CommandLine.arguments.dropFirst().first {
      case "history": try await History.run(arguments)
      case "watch": try await Copies.watch(arguments)
      case "fill": try await Copies.fill(arguments)
      case "check": try await Copies.check(arguments)
      default: throw Misuse("what to do is not said")
      }
    } catch {
      FileHandle.standardError.write(Data("esker-redis-process: \(error)\n".utf8))
      exit(1)
    }
  }
}

struct Misuse: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// `name=value`, several.
struct Arguments {
  private let values: [String: String]

  init(_ words: some Sequence<String>) {
    var values: [String: String] = [:]
    for word in words {
      let parts = word.split(separator: "=", maxSplits: 1)
      values[String(parts[0])] = parts.count > 1 ? String(parts[1]) : ""
    }
    self.values = values
  }

  func text(_ name: String) throws -> String {
    guard let value = values[name] else { throw Misuse("\(name) is not given") }
    return value
  }

  func number(_ name: String, or standard: Int) -> Int { values[name].flatMap { Int($0) } ?? standard }

  func optional(_ name: String) -> String? { values[name] }
}
