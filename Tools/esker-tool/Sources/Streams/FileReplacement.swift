import Foundation

/// Gives a file new contents at once: a reader sees the old or the new, even after a kill. Not for sure after a power failure.
///
/// - Throws: ``ToolError/system(operation:path:errno:)``, also for what is not a file, such as a directory or a device.
func replaceFile(at path: String, with bytes: [UInt8], mode: mode_t = 0o644) throws(ToolError) {
  if let status = SystemCalls.status(path), status.st_mode & S_IFMT != S_IFREG {
    throw .system(operation: "replace", path: path, errno: status.st_mode & S_IFMT == S_IFDIR ? EISDIR : EINVAL)
  }
  let new = path + ".new"
  let descriptor = SystemCalls.open(new, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode: mode)
  guard descriptor >= 0 else { throw .system(operation: "create", path: new, errno: errno) }
  defer { close(descriptor) }
  do throws(ToolError) {
    var output = BufferedOutput(descriptor: descriptor, name: new)
    try output.write(bytes)
    try output.flush()
    guard SystemCalls.rename(new, to: path) else { throw .system(operation: "replace", path: path, errno: errno) }
  } catch {
    SystemCalls.remove(new)
    throw error
  }
}
