import Foundation

/// A program of others, run to read or to write files that are best left to it.
///
/// What it says on standard error becomes the command's error. It ends with the object.
final class ForeignProgram {
  enum Use {
    /// The command reads what the program prints.
    case reading
    /// The program reads what the command writes.
    case writing
  }

  private let name: String
  private let process = Process()
  private let data = Pipe()
  private let errors = Pipe()
  private let use: Use
  private var isFinished = false

  /// Starts a program that is on the search path.
  ///
  /// - Parameter package: Which package of a system has it.
  /// - Throws: ``ToolError/noProgram(_:package:)``.
  init(_ name: String, package: String, _ arguments: [String], for use: Use) throws(ToolError) {
    self.name = name
    self.use = use
    guard let path = Self.path(of: name) else { throw .noProgram(name, package: package) }
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    if use == .reading { process.standardOutput = data } else { process.standardInput = data }
    if use == .reading {
      process.standardInput = FileHandle.nullDevice
    } else {
      process.standardOutput = FileHandle.nullDevice
    }
    process.standardError = errors
    do { try process.run() } catch { throw .programFailed(name, why: "it cannot be started: \(error)") }
  }

  deinit {
    if process.isRunning { process.terminate() }
  }

  /// Where a program is on the search path; nil if it is not.
  private static func path(of name: String) -> String? {
    let directories = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    return directories.lazy.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// The end of the pipe that is the command's. It is open until the program is finished.
  var descriptor: Int32 {
    (use == .reading ? data.fileHandleForReading : data.fileHandleForWriting).fileDescriptor
  }

  /// Ends what is written, and waits for the program.
  ///
  /// - Throws: ``ToolError/programFailed(_:why:)`` with what the program said.
  func finish() throws(ToolError) {
    guard !isFinished else { return }
    isFinished = true
    if use == .writing { try? data.fileHandleForWriting.close() }
    // To the end first: a pipe that is full would keep the program from ending.
    let said = (try? errors.fileHandleForReading.readToEnd()) ?? nil
    process.waitUntilExit()
    guard process.terminationReason != .exit || process.terminationStatus != 0 else { return }
    let text = String(decoding: said ?? Data(), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    throw .programFailed(name, why: text.isEmpty ? "it ended with \(process.terminationStatus)" : text)
  }
}
