import Foundation

/// Messages and progress, which never mix with results.
///
/// A standard error that cannot be written to is nobody's concern.
enum StandardError {
  static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

  static func write(_ text: String) {
    var stream = BufferedOutput(descriptor: STDERR_FILENO, name: "standard error")
    try? stream.write(text)
    try? stream.flush()
  }

  /// One line, marked as the tool's.
  static func report(_ message: String) {
    write("esker: \(message)\n")
  }
}
