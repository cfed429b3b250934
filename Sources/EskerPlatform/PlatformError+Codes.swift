#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

extension PlatformError {
  /// Nothing has that name.
  public static let notFound = ENOENT
  /// The name is taken.
  public static let exists = EEXIST
  /// The volume is full.
  public static let noSpace = ENOSPC
  /// The user's share of the volume is full.
  public static let quotaExceeded = EDQUOT
  /// There is no memory.
  public static let outOfMemory = ENOMEM
  /// The medium failed.
  public static let inputOutput = EIO
  /// Not now, but perhaps later.
  public static let tryAgain = EAGAIN
  /// An argument made no sense.
  public static let invalid = EINVAL
  /// The process has as many files open as it may.
  public static let tooManyFiles = EMFILE
  /// The machine has as many files open as it can.
  public static let tooManyFilesOnMachine = ENFILE
  /// Another file has taken the place of the one that was meant.
  public static let stale = ESTALE
  /// The path leads through something that is not a directory.
  public static let notADirectory = ENOTDIR

  /// The system's own words for an error number.
  public static func message(_ code: Int32) -> String {
    // Safety: today's C libraries keep a text for each thread, and it is copied before another call can change it.
    guard let text = unsafe strerror(code) else { return "error \(code)" }
    return unsafe String(cString: text)
  }
}
