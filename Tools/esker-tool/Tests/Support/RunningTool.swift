import Foundation

/// A run of the tool that is watched while it runs.
final class RunningTool {
  let process: Process
  /// What the process reads.
  let input = Pipe()
  /// Where its results go.
  let output = Pipe()
  /// Where its messages go.
  let errors = Pipe()

  init(_ arguments: [String], errors terminal: FileHandle? = nil) throws {
    process = ToolProcess.make(try ToolProcess.executable(), arguments)
    process.standardInput = input
    process.standardOutput = output
    if let terminal { process.standardError = terminal } else { process.standardError = errors }
    // A shell that starts the tests in the background ignores this for all that come from it.
    signal(SIGINT, SIG_DFL)
    try process.run()
  }

  deinit {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
  }

  func write(_ text: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
  }

  func closeInput() throws { try input.fileHandleForWriting.close() }

  /// Waits until the tool says that so many records are stored, or ends.
  func read(untilAcknowledged records: Int) {
    var text = ""
    while true {
      let read = output.fileHandleForReading.availableData
      guard !read.isEmpty else { return }
      text += String(decoding: read, as: UTF8.self)
      guard let end = text.lastIndex(of: "\n") else { continue }
      if let last = text[..<end].split(separator: "\n").last.flatMap({ Int($0) }), last >= records { return }
    }
  }

  /// Sends a signal and waits for the end: the exit code, or the signal that ended it as a negative number.
  func end(with signal: Int32) -> Int32 {
    kill(process.processIdentifier, signal)
    return wait()
  }

  func wait() -> Int32 {
    process.waitUntilExit()
    return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
  }

  /// All messages; to be asked for when the process has ended.
  var messages: String { String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self) }
}

/// A terminal that nobody sees.
final class ScreenTerminal {
  /// What the program is given.
  let device: FileHandle
  private let controller: Int32
  private let shown = NSMutableData()

  init(columns: UInt16) throws {
    typealias Call = @convention(c) (Int32) -> Int32
    typealias Name = @convention(c) (Int32) -> UnsafeMutablePointer<CChar>?
    controller = try Self.function("posix_openpt", as: Call.self)(O_RDWR | O_NOCTTY)
    var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    guard controller >= 0, try Self.function("grantpt", as: Call.self)(controller) == 0,
      try Self.function("unlockpt", as: Call.self)(controller) == 0,
      let name = try Self.function("ptsname", as: Name.self)(controller),
      ioctl(controller, UInt(TIOCSWINSZ), &size) == 0, let device = FileHandle(forUpdatingAtPath: String(cString: name))
    else { throw CocoaError(.fileReadUnknown) }
    self.device = device
    _ = fcntl(controller, F_SETFL, O_NONBLOCK)
  }

  deinit { close(controller) }

  /// A function of the C library that Glibc's module hides.
  private static func function<F>(_ name: String, as type: F.Type) throws -> F {
    guard let symbol = dlsym(nil, name) else { throw CocoaError(.featureUnsupported) }
    return unsafeBitCast(symbol, to: type)
  }

  /// Everything that was shown so far.
  func text() -> String {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(controller, &buffer, buffer.count)
      guard count > 0 else { break }
      shown.append(buffer, length: count)
    }
    return String(decoding: Data(referencing: shown), as: UTF8.self)
  }
}
