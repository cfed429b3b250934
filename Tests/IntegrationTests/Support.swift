import Esker
import Foundation
import Logging

/// Calls `body` with a path at which nothing is, and removes what is there afterwards.
func withTemporaryPath(_ body: (String) throws -> Void) throws {
  let path = FileManager.default.temporaryDirectory.appendingPathComponent("esker-\(UUID().uuidString)").path
  defer { try? FileManager.default.removeItem(atPath: path) }
  try body(path)
}

/// Waits until `condition` holds, however slow the machine is; false after twenty minutes, when it never will.
func eventually(_ condition: () -> Bool) -> Bool {
  let end = ContinuousClock.now + .seconds(1200)
  while !condition() {
    guard ContinuousClock.now < end else { return false }
    usleep(1000)
  }
  return true
}

/// Keeps what is logged.
final class LogBook: @unchecked Sendable {
  struct Line {
    let level: Logger.Level
    let message: String
    let metadata: Logger.Metadata
  }

  private let lock = NSLock()
  private var written: [Line] = []

  var lines: [Line] { lock.withLock { written } }

  func line(_ message: String) -> Line? { lines.first { $0.message == message } }

  func write(_ line: Line) { lock.withLock { written.append(line) } }

  /// A logger that writes here.
  var logger: Logger {
    var logger = Logger(label: "test") { _ in Handler(book: self) }
    logger.logLevel = .trace
    return logger
  }

  private struct Handler: LogHandler {
    let book: LogBook
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let all = metadata.merging(event.metadata ?? [:]) { $1 }
      book.write(Line(level: event.level, message: "\(event.message)", metadata: all))
    }
  }
}
