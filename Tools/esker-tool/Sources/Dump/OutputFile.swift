import EskerPlatform
import Foundation

/// Calls `body` with a new file at `path`, or with standard output for `-`.
///
/// The file and its name are durable when the call returns. On an error, the file is removed.
///
/// - Parameter compressing: Whether a file whose name ends with `.gz` is compressed.
func withOutput<R>(_ path: String, compressing: Bool = false, _ body: (inout BufferedOutput) throws -> R) throws -> R {
  guard path != "-" else {
    var output = BufferedOutput.standard()
    let result = try body(&output)
    try output.flush()
    return result
  }
  let descriptor = SystemCalls.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode: 0o644)
  guard descriptor >= 0 else {
    throw errno == EEXIST ? ToolError.outputExists(path: path) : .system(operation: "create", path: path, errno: errno)
  }
  defer { close(descriptor) }
  do {
    let gzip = compressing && path.lowercased().hasSuffix(".gz") ? try Gzip(name: path) : nil
    var output = BufferedOutput(descriptor: descriptor, name: path, capacity: BufferedOutput.largeCapacity, gzip: gzip)
    let result = try body(&output)
    try output.finish()
    guard fsync(descriptor) == 0 else { throw ToolError.system(operation: "sync", path: path, errno: errno) }
    try syncDirectory(of: path)
    return result
  } catch {
    SystemCalls.remove(path)
    throw error
  }
}

/// Makes the name of a new file durable.
func syncDirectory(of path: String) throws(ToolError) {
  let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
  do throws(PlatformError) { try OSFileSystem().syncDirectory(directory) } catch {
    throw .system(operation: "sync", path: directory, errno: error.code)
  }
}
