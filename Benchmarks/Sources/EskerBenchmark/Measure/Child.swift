import Foundation

/// Runs this program again, so that each measurement starts with an empty heap, fresh page tables and its own mappings.
enum Child {
  /// Runs `cell` with arguments and decodes the measurement that it prints.
  static func measure(_ arguments: [String]) throws -> Measurement {
    let (status, output, _) = try run(arguments)
    guard status == 0, let measurement = try? JSONDecoder().decode(Measurement.self, from: output) else {
      throw BenchmarkError.child(arguments: arguments, status: status, output: String(decoding: output, as: UTF8.self))
    }
    return measurement
  }

  /// Runs `cell` with arguments and expects it to be killed by SIGKILL, or to succeed.
  static func prepare(_ arguments: [String], isKilled: Bool) throws {
    let (status, output, signalled) = try run(arguments)
    guard signalled == isKilled, status == (isKilled ? SIGKILL : 0) else {
      throw BenchmarkError.child(arguments: arguments, status: status, output: String(decoding: output, as: UTF8.self))
    }
  }

  private static func run(_ arguments: [String]) throws -> (status: Int32, output: Data, signalled: Bool) {
    let process = Process()
    process.executableURL = Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
    process.arguments = ["cell"] + arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, output, process.terminationReason == .uncaughtSignal)
  }
}
