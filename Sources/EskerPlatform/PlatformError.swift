/// Why a call to the operating system failed.
public struct PlatformError: Error, Hashable, Sendable {
  /// The operation as a verb: `open`, `write`, `sync`.
  public var operation: String
  /// The file or directory it was about.
  public var path: String
  /// The C error number.
  public var code: Int32
  /// Whether it was a sync, of a file or of a directory: what the kernel did with the pages is then not known, and a sync that
  /// succeeds later proves nothing.
  public private(set) var isSync = false

  /// Says that `operation`, which is no sync, failed on `path` with the C error number `code`.
  public init(_ operation: String, path: String, code: Int32) {
    self.operation = operation
    self.path = path
    self.code = code
  }

  /// Says that a sync of a file failed.
  public static func sync(path: String, code: Int32) -> PlatformError {
    var error = PlatformError("sync", path: path, code: code)
    error.isSync = true
    return error
  }

  /// Says that a sync of a directory failed.
  public static func syncDirectory(path: String, code: Int32) -> PlatformError {
    var error = PlatformError("sync the directory", path: path, code: code)
    error.isSync = true
    return error
  }

  /// Whether there was no space: on the volume, or in the user's share of it.
  public var isFull: Bool { code == Self.noSpace || code == Self.quotaExceeded }

  /// Whether there was no descriptor for another file, in the process or on the machine.
  public var isOutOfDescriptors: Bool { code == Self.tooManyFiles || code == Self.tooManyFilesOnMachine }

  /// Whether the file was not there, or another one in its place.
  public var isGone: Bool { code == Self.notFound || code == Self.stale }
}
