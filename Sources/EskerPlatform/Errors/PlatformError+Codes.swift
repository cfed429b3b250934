#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

extension PlatformError {
  /// No such file or directory.
  public static let notFound = ENOENT
  /// The name is taken.
  public static let exists = EEXIST
  /// The volume is full.
  public static let noSpace = ENOSPC
  /// The user's disk quota is used up.
  public static let quotaExceeded = EDQUOT
  /// Out of memory.
  public static let outOfMemory = ENOMEM
  /// The device failed.
  public static let inputOutput = EIO
  /// Try again later.
  public static let tryAgain = EAGAIN
  /// Invalid argument.
  public static let invalid = EINVAL
  /// The process has reached its limit on open files.
  public static let tooManyFiles = EMFILE
  /// The machine has reached its limit on open files.
  public static let tooManyFilesOnMachine = ENFILE
  /// The path now names a different file.
  public static let stale = ESTALE
  /// The operation is not permitted.
  public static let notPermitted = EPERM
  /// Permission is denied.
  public static let accessDenied = EACCES
  /// The volume is mounted read-only.
  public static let isReadOnly = EROFS
  /// The path names a symbolic link, which is not followed.
  public static let isLink = ELOOP
  /// The file has more names than it should.
  public static let tooManyLinks = EMLINK
  /// A component of the path is not a directory.
  public static let notADirectory = ENOTDIR

  /// The system's text for an error number.
  public static func message(_ code: Int32) -> String {
    // Safety: today's C libraries keep one text per thread, and it is copied before another call can change it.
    guard let text = unsafe strerror(code) else { return "error \(code)" }
    return unsafe String(cString: text)
  }
}
