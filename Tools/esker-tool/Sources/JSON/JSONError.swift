import ArgumentParser
import Esker

/// A command whose results are JSON if it is asked for it, and then its error as well.
protocol JSONPrinting {
  var json: Bool { get }
}

/// Why a command failed, as an object on a line of its own behind what it has printed.
struct JSONError {
  private let error: String
  private let exitCode: Int32
  private let location: StoreError.Location?

  /// Nil if the error says nothing that was not printed.
  init?(_ error: any Error) {
    switch error {
    case let error as StoreError:
      self.error = error.description
      exitCode = ExitStatus.code(for: error)
      if case .damaged(let place, _) = error { location = place } else { location = nil }
    case let error as ToolError where !error.isReported:
      self.error = error.description
      exitCode = ExitStatus.code(for: error)
      location = nil
    default: return nil
    }
  }

  var text: [UInt8] {
    JSONWriter.line { writer in
      writer.field("error", error)
      writer.field("exitCode", Int(exitCode))
      guard let location else { return }
      writer.field("path", location.path)
      writer.field("segment", location.segment)
      writer.field("offset", location.offset)
    }
  }

  /// Writes it to standard output, which may have been closed.
  func write() throws(ToolError) {
    try BufferedOutput.print(text)
  }
}
