import Foundation

/// Calls `body` with a new file at `path`, or with standard output for `-`.
///
/// The file is on the disk when the call returns. When it throws, what was written is removed, unless the error says that all
/// that could be written was.
func withOutput<R>(_ path: String, _ body: (inout BufferedOutput) throws -> R) throws -> R {
  guard path != "-" else {
    var output = BufferedOutput.standard()
    let result = try body(&output)
    try output.flush()
    return result
  }
  let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
  guard descriptor >= 0 else {
    throw errno == EEXIST ? ToolError.outputExists(path: path) : .system(operation: "create", path: path, errno: errno)
  }
  defer { close(descriptor) }
  do {
    var output = BufferedOutput(descriptor: descriptor, name: path)
    let result = try body(&output)
    try output.flush()
    guard fsync(descriptor) == 0 else { throw ToolError.system(operation: "sync", path: path, errno: errno) }
    return result
  } catch {
    unlink(path)
    throw error
  }
}
