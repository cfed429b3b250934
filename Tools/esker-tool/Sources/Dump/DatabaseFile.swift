import Foundation

/// Calls `body` with what takes the statements that make a new SQLite database at `path`.
///
/// The program `sqlite3` makes it. The file and its name are durable when the call returns. On an error, the file is removed.
func withDatabase(_ path: String, _ body: (inout BufferedOutput) throws -> Void) throws {
  // Made here, an existing one is not overwritten; for SQLite, an empty file is an empty database.
  let descriptor = SystemCalls.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode: 0o644)
  guard descriptor >= 0 else {
    throw errno == EEXIST ? ToolError.outputExists(path: path) : .system(operation: "create", path: path, errno: errno)
  }
  defer { close(descriptor) }
  do {
    let absolute = URL(fileURLWithPath: path).path
    let arguments = ["-batch", "-bail", "-init", "/dev/null", absolute]
    let program = try ForeignProgram("sqlite3", package: "sqlite3", arguments, for: .writing)
    do {
      var output = BufferedOutput(
        descriptor: program.descriptor,
        name: path,
        capacity: BufferedOutput.largeCapacity
      )
      try body(&output)
      try output.finish()
    } catch ToolError.outputClosed {
      // The program has ended before: it says why.
      try program.finish()
      throw ToolError.programFailed("sqlite3", why: "it ended before it had taken everything")
    }
    try program.finish()
    guard fsync(descriptor) == 0 else { throw ToolError.system(operation: "sync", path: path, errno: errno) }
    try syncDirectory(of: path)
  } catch {
    SystemCalls.remove(path)
    throw error
  }
}

/// Calls `body` with an output that is written nowhere.
func withoutOutput(_ body: (inout BufferedOutput) throws -> Void) throws {
  let descriptor = SystemCalls.open("/dev/null", O_WRONLY | O_CLOEXEC)
  guard descriptor >= 0 else { throw ToolError.system(operation: "open", path: "/dev/null", errno: errno) }
  defer { close(descriptor) }
  var output = BufferedOutput(descriptor: descriptor, name: "/dev/null")
  try body(&output)
  try output.finish()
}
