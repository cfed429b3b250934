import EskerPlatform

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A real directory, removed with its contents when the last reference is released.
public final class TemporaryDirectory: Sendable {
  /// The path, without a trailing slash.
  public let path: String

  /// Creates an empty directory in `parent`, or else in `TMPDIR` or `/tmp`.
  public init(in parent: String? = nil) throws(PlatformError) {
    let parent = parent ?? getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(parent)/esker-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw PlatformError("create directory", path: parent, code: errno)
    }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    Self.removeTree(path)
  }

  /// The path of an entry.
  public func appending(_ name: String) -> String { "\(path)/\(name)" }

  /// Removes the file at `path`, or the directory with its contents.
  public static func removeTree(_ path: String) {
    // A link to a directory elsewhere is unlinked and never followed.
    if unlink(path) == 0 { return }
    for name in (try? OSFileSystem().list(path)) ?? [] { removeTree("\(path)/\(name)") }
    rmdir(path)
  }
}
