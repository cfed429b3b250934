import EskerPlatform

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A real directory of its own, removed with all it holds when the last reference goes.
public final class TemporaryDirectory: Sendable {
  /// Where it is, without a slash at the end.
  public let path: String

  /// Makes an empty directory under `parent`, or else under `TMPDIR` or `/tmp`.
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

  /// The path of something in it.
  public func appending(_ name: String) -> String { "\(path)/\(name)" }

  /// Removes what stands at `path`, and what is in it if it is a directory.
  public static func removeTree(_ path: String) {
    // A link to a directory elsewhere is unlinked here and never followed.
    if unlink(path) == 0 { return }
    for name in (try? OSFileSystem().list(path)) ?? [] { removeTree("\(path)/\(name)") }
    rmdir(path)
  }
}
