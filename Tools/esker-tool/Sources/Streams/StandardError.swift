import Foundation

/// Messages and progress, which never mix with results.
///
/// Errors of writing to standard error are ignored.
enum StandardError {
  static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

  static func write(_ text: String) {
    var stream = BufferedOutput(descriptor: STDERR_FILENO, name: "standard error")
    try? stream.write(text)
    try? stream.flush()
  }

  /// A line with the tool's prefix.
  static func report(_ message: String) {
    write("esker: \(message)\n")
  }
}
