import EskerTestSupport
import Foundation

/// One of this package's executables, in a process of its own that can be stopped and killed.
final class ChildProcess: @unchecked Sendable {
  let pid: Int32
  private let program: String
  private let outputPath: String
  #if canImport(Glibc)
    private var input: UnsafeMutablePointer<_IO_FILE>?
  #else
    private var input: UnsafeMutablePointer<FILE>?
  #endif

  convenience init(_ arguments: [String], of program: String = "esker-redis-process", output: String) throws {
    guard let path = Self.path(of: program) else { throw TestFailure("\(program) is not built") }
    try self.init(program, command: quoted(path), arguments, output: output)
  }

  /// - Parameter command: in the form of a shell.
  init(_ program: String, command: String, _ arguments: [String], output: String) throws {
    self.program = program
    outputPath = output
    // Its input is ours to end.
    let command =
      "echo $$ >\(quoted(output)); exec " + ([command] + arguments.map(quoted)).joined(separator: " ")
      + " >>\(quoted(output)) 2>&1"
    input = popen(alone(command), "w")
    var found: Int32?
    for _ in 0..<1_000 where found == nil {
      usleep(5_000)
      found = try? Int32(String(contentsOfFile: output, encoding: .utf8).split(separator: "\n").first ?? "")
    }
    guard let found else { throw TestFailure("\(program) did not start") }
    pid = found
  }

  deinit { kill() }

  func signal(_ number: Int32) { Foundation.kill(pid, number) }

  /// As `kill -9`.
  func kill() {
    guard input != nil else { return }
    signal(SIGKILL)
    end()
  }

  /// Ends its input, and waits for its end.
  @discardableResult
  func end() -> Int32 {
    guard let input else { return 0 }
    self.input = nil
    return pclose(input)
  }

  /// Sends an empty line.
  func go() {
    guard let input else { return }
    fputs("\n", input)
    fflush(input)
  }

  /// The complete lines that it has written: one that a kill cut off was not said.
  var output: [String] {
    let text = (try? String(contentsOfFile: outputPath, encoding: .utf8)) ?? ""
    let end = text.lastIndex(of: "\n") ?? text.startIndex
    return text[..<end].split(separator: "\n").dropFirst().map(String.init)
  }

  /// The words of each line.
  var lines: [[String]] { output.map { $0.split(separator: " ").map(String.init) } }

  /// Waits until the output is as wanted; no longer than a minute.
  func until(_ what: String, _ condition: ([[String]]) -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(60)
    while !condition(lines) {
      guard ContinuousClock.now < end else {
        throw TestFailure("not within a minute: \(what)\n\(lines.suffix(5))")
      }
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  /// Waits for a line that begins with a word; its other words.
  func line(_ word: String) throws -> [String] {
    for _ in 0..<120_000 {
      if let line = output.first(where: { $0.hasPrefix(word) }) {
        return line.split(separator: " ").dropFirst().map(String.init)
      }
      if Foundation.kill(pid, 0) != 0 || output.contains(where: { $0.hasPrefix("\(program):") }) { break }
      usleep(5_000)
    }
    throw TestFailure("no line \(word): \(output.suffix(5))")
  }

  /// Beside the test bundle, or, where that is a directory, beside it.
  private static func path(of program: String) -> String? {
    var directory = URL(fileURLWithPath: CommandLine.arguments[0])
    while directory.path != "/" {
      directory.deleteLastPathComponent()
      let candidate = directory.appendingPathComponent(program).path
      if FileManager.default.isExecutableFile(atPath: candidate) { return candidate }
    }
    return nil
  }
}
