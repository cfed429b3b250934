import Foundation

/// A terminal of a given width, so that a test sees what a person would.
final class PseudoTerminal {
  private let master: Int32
  private let name: String

  struct Failed: Error {}

  init(columns: Int) throws {
    typealias OnDescriptor = @convention(c) (Int32) -> Int32
    typealias NameOf = @convention(c) (Int32) -> UnsafeMutablePointer<CChar>?
    master = try Self.function("posix_openpt", as: OnDescriptor.self)(O_RDWR | O_NOCTTY)
    guard master >= 0, try Self.function("grantpt", as: OnDescriptor.self)(master) == 0,
      try Self.function("unlockpt", as: OnDescriptor.self)(master) == 0,
      let path = try Self.function("ptsname", as: NameOf.self)(master)
    else { throw Failed() }
    name = String(cString: path)
    var size = winsize(ws_row: 24, ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
    guard ioctl(master, UInt(TIOCSWINSZ), &size) == 0 else { throw Failed() }
  }

  /// Glibc's headers hide these from Swift.
  private static func function<T>(_ name: String, as type: T.Type) throws -> T {
    guard let symbol = dlsym(UnsafeMutableRawPointer(bitPattern: 0), name) else { throw Failed() }
    return unsafeBitCast(symbol, to: type)
  }

  deinit {
    close(master)
  }

  /// What the tool writes to standard output when that is this terminal.
  ///
  /// - Parameter typed: What is typed, if standard input and errors are this terminal too.
  func run(
    _ arguments: [String],
    environment: [String: String] = [:],
    typing typed: String? = nil
  ) throws -> (status: Int32, text: String) {
    let process = ToolProcess.make(try ToolProcess.executable(), arguments)
    process.environment = (process.environment ?? [:]).merging(["TERM": "xterm", "NO_COLOR": ""]) { $1 }
      .merging(environment) { $1 }
    let descriptor = open(name, O_RDWR | O_NOCTTY)
    guard descriptor >= 0 else { throw Failed() }
    let slave = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    process.standardInput = typed == nil ? FileHandle.nullDevice : slave
    process.standardOutput = slave
    process.standardError = typed == nil ? FileHandle.nullDevice : slave
    if let typed { try FileHandle(fileDescriptor: master).write(contentsOf: Data(typed.utf8)) }
    try process.run()
    try slave.close()
    let text = String(decoding: output(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text.replacing("\r\n", with: "\n"))
  }

  /// Everything until the other side is closed, which Linux tells by an error.
  private func output() -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = read(master, &buffer, buffer.count)
      if count > 0 {
        bytes += buffer[..<count]
      } else if count == 0 || errno != EINTR {
        return bytes
      }
    }
  }
}
