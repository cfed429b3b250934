import Foundation
import Testing

/// Programs of others that make inputs of tests.
enum Installed {
  /// Where a program is; nil if it is not installed.
  static func path(of name: String) -> String? {
    let directories = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    return directories.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }
}

extension Trait where Self == ConditionTrait {
  /// Runs the test only where all of these programs are.
  ///
  /// - Parameter package: Debian's packages that have them.
  static func needs(_ programs: String..., package: String) -> Self {
    .enabled(
      if: programs.allSatisfy { Installed.path(of: $0) != nil },
      "needs \(programs.joined(separator: ", ")): apt-get install \(package)"
    )
  }
}

extension Scratch {
  /// Runs a line of shell in the directory, in which `"$0"` is the tool, and expects that it succeeds.
  @discardableResult
  func succeed(_ line: String, _ place: SourceLocation = #_sourceLocation) throws -> String {
    let result = try shell("cd '\(directory.path)' && \(line)")
    #expect(result.status == 0, "\(line): \(result.errors)", sourceLocation: place)
    return result.text
  }
}
