/// Why a call to the operating system failed.
public struct PlatformError: Error, Hashable, Sendable {
  /// The operation as a verb: `open`, `write`, `sync`.
  public var operation: String
  /// The file or directory concerned.
  public var path: String
  /// The C error number.
  public var code: Int32
  /// Whether a sync failed, of a file or of a directory. The state of the kernel's pages is then unknown, and a later sync
  /// that succeeds proves nothing.
  public private(set) var isSync = false

  /// A failure of `operation`, other than a sync, on `path`, with the C error number `code`.
  public init(_ operation: String, path: String, code: Int32) {
    self.operation = operation
    self.path = path
    self.code = code
  }

  /// A failed sync of a file.
  public static func sync(path: String, code: Int32) -> PlatformError {
    var error = PlatformError("sync", path: path, code: code)
    error.isSync = true
    return error
  }

  /// A failed sync of a directory.
  public static func syncDirectory(path: String, code: Int32) -> PlatformError {
    var error = PlatformError("sync the directory", path: path, code: code)
    error.isSync = true
    return error
  }

  /// Whether space ran out, on the volume or in the user's quota.
  public var isFull: Bool { code == Self.noSpace || code == Self.quotaExceeded }

  /// Whether this process may not do that, or not now: a device that is locked refuses what is protected meanwhile.
  public var isDenied: Bool { code == Self.notPermitted || code == Self.accessDenied }

  /// Whether no descriptor was available for another file, in the process or on the machine.
  public var isOutOfDescriptors: Bool { code == Self.tooManyFiles || code == Self.tooManyFilesOnMachine }

  /// Whether the file is missing, or another has taken its place.
  public var isGone: Bool { code == Self.notFound || code == Self.stale }
}
