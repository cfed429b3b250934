import Foundation
import Testing

/// How a run of the tool ended.
struct ToolResult {
  var status: Int32
  var output: Data
  var errors: String

  var text: String { String(decoding: output, as: UTF8.self) }
  var lines: [String] { text.split(separator: "\n").map(String.init) }
}

/// A directory of a test's own, removed with the object.
final class Scratch {
  let directory: URL

  init() throws {
    directory = FileManager.default.temporaryDirectory.appendingPathComponent("esker-tool-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: directory)
  }

  /// The path of the store most tests use.
  var store: String { path("store") }

  func path(_ name: String) -> String { directory.appendingPathComponent(name).path }

  /// Writes a file and returns its path.
  func file(_ name: String, _ contents: some Sequence<UInt8>) throws -> String {
    try Data(contents).write(to: directory.appendingPathComponent(name))
    return path(name)
  }

  /// Runs the tool to its end.
  func run(_ arguments: String..., input: Data? = nil) throws -> ToolResult {
    try run(arguments, input: input)
  }

  func run(_ arguments: [String], input: Data? = nil) throws -> ToolResult {
    try finish(executable: ToolProcess.executable(), arguments, input: input)
  }

  /// Runs a line of shell in which `"$0"` is the tool and `"$1"` the store.
  func shell(_ line: String) throws -> ToolResult {
    let tool = try ToolProcess.executable().path
    return try finish(executable: URL(fileURLWithPath: "/bin/sh"), ["-c", line, tool, store], input: nil)
  }

  // Output goes to files: a full pipe could not block the tool, nor this process.
  private func finish(executable: URL, _ arguments: [String], input: Data?) throws -> ToolResult {
    let name = UUID().uuidString
    let output = try file(name + ".out", [])
    let errors = try file(name + ".err", [])
    let process = ToolProcess.make(executable, arguments)
    process.standardInput = try FileHandle(forReadingAtPath: input.map { try file(name + ".in", $0) } ?? "/dev/null")
    process.standardOutput = FileHandle(forWritingAtPath: output)
    process.standardError = FileHandle(forWritingAtPath: errors)
    try process.run()
    process.waitUntilExit()
    let exited = process.terminationReason == .exit
    return ToolResult(
      status: exited ? process.terminationStatus : -process.terminationStatus,
      output: try Data(contentsOf: URL(fileURLWithPath: output)),
      errors: String(decoding: try Data(contentsOf: URL(fileURLWithPath: errors)), as: UTF8.self)
    )
  }
}

/// Finds and starts the built tool.
enum ToolProcess {
  struct NotBuilt: Error {}

  /// The tool lies beside the test bundle, which is the running program on some systems and loaded by it on others.
  static func executable() throws -> URL {
    let bundles = Bundle.allBundles.filter { $0.bundleURL.pathExtension == "xctest" }.map(\.bundleURL)
    for start in bundles + [Bundle.main.executableURL, Bundle.main.bundleURL].compactMap({ $0 }) {
      var directory = start
      while directory.path.count > 1 {
        directory.deleteLastPathComponent()
        let candidate = directory.appendingPathComponent("esker")
        var isDirectory: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: candidate.path, isDirectory: &isDirectory)
        if exists, !isDirectory.boolValue { return candidate }
      }
    }
    throw NotBuilt()
  }

  static func make(_ executable: URL, _ arguments: [String]) -> Process {
    let process = Process()
    process.executableURL = executable
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
    return process
  }
}

/// A load that is fed line by line and says when each is stored, so that it can be watched half done.
final class OpenLoad {
  private let process: Process
  private let input = Pipe()
  private let output = Pipe()

  init(store: String, _ options: String...) throws {
    process = ToolProcess.make(
      try ToolProcess.executable(),
      ["load", store, "-", "--key-field", "id", "--acknowledge", "1"] + options
    )
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
  }

  deinit {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
  }

  var processIdentifier: Int32 { process.processIdentifier }

  /// Feeds a document and waits until it is acknowledged.
  func feed(_ line: String) throws -> String {
    try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
    return String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
  }

  /// Ends the input and waits for the exit code.
  func finish() throws -> Int32 {
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
    return process.terminationStatus
  }

  /// Ends the process as the out-of-memory killer does.
  func kill9() {
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}
