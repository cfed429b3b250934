import CEskerShims

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The operating system's files: one thin function per system call.
///
/// Safety: these calls take pointers to paths, which Swift ends with a zero and keeps during the call, and to locals that
/// they fill. Two calls return one: `opendir` a stream, which `list` alone uses and closes, copying the name of an entry before
/// it reads the next; and `getcwd` a text that ends with a zero, which is copied and then freed.
public struct OSFileSystem: FileSystem {
  /// Creates a view of the process's own file system; it has no state.
  public init() {}

  /// Calls `getcwd(3)`.
  public func workingDirectory() throws(PlatformError) -> String {
    LockRank.expectIOAllowed()
    guard let path = unsafe getcwd(nil, 0) else {
      throw PlatformError("find", path: "the working directory", code: errno)
    }
    defer { unsafe free(path) }
    return unsafe String(cString: path)
  }

  /// Opens a file with `open(2)`; the descriptor is not inherited across `exec`. A symbolic link in the last place of the path is not
  /// followed: whoever may put one into a directory must not choose what is written to.
  ///
  /// A new file is for its owner, and as far as its directory is for others, for these too: `fchmod(2)`, whatever the umask says. So a
  /// directory that a group shares makes a store that it shares.
  public func open(_ path: String, _ mode: OpenMode) throws(PlatformError) -> any File {
    LockRank.expectIOAllowed()
    let flags =
      switch mode {
      case .read: O_RDONLY
      case .readWrite: O_RDWR
      case .create: O_RDWR | O_CREAT | O_EXCL
      }
    let descriptor = try Self.openDescriptor(path, flags | O_NOFOLLOW)
    // A file system without permissions refuses, and has nothing to share.
    if case .create = mode, let shared = Self.sharedMode(besides: path) { _ = fchmod(descriptor, shared) }
    return OSFile(path: path, descriptor: descriptor, isWritable: flags & O_RDWR != 0)
  }

  /// The permissions of a new file in a directory that is not for its owner alone; nil in one that is.
  private static func sharedMode(besides path: String) -> mode_t? {
    let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    var result = stat()
    guard unsafe stat(directory, &result) == 0 else { return nil }
    let others = result.st_mode & 0o066
    return others == 0 ? nil : others | 0o600
  }

  /// Calls `stat(2)`; nil for `ENOENT` and `ENOTDIR`.
  public func status(_ path: String) throws(PlatformError) -> FileStatus? {
    LockRank.expectIOAllowed()
    var result = stat()
    while unsafe stat(path, &result) != 0 {
      switch errno {
      case EINTR: continue
      case ENOENT, ENOTDIR: return nil
      default: throw PlatformError("get the status of", path: path, code: errno)
      }
    }
    return FileStatus(result)
  }

  /// Reads a directory with `readdir(3)`.
  public func list(_ directory: String) throws(PlatformError) -> [String] {
    LockRank.expectIOAllowed()
    guard let stream = unsafe opendir(directory) else {
      throw PlatformError("list", path: directory, code: errno)
    }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = unsafe readdir(stream) else { break }
      let name = unsafe String(cString: esker_entry_name(entry))
      if name != ".", name != ".." { names.append(name) }
    }
    if errno != 0 { throw PlatformError("list", path: directory, code: errno) }
    return names
  }

  /// Creates a directory with `mkdir(2)`, for this user only.
  public func createDirectory(_ path: String) throws(PlatformError) {
    LockRank.expectIOAllowed()
    if unsafe mkdir(path, 0o700) != 0 { throw PlatformError("create the directory", path: path, code: errno) }
  }

  /// Removes a name with `unlink(2)`.
  public func remove(_ path: String) throws(PlatformError) {
    LockRank.expectIOAllowed()
    if unsafe unlink(path) != 0 { throw PlatformError("remove", path: path, code: errno) }
  }

  /// Removes an empty directory with `rmdir(2)`.
  public func removeDirectory(_ path: String) throws(PlatformError) {
    LockRank.expectIOAllowed()
    if unsafe rmdir(path) != 0 { throw PlatformError("remove the directory", path: path, code: errno) }
  }

  /// Renames with `rename(2)`.
  public func rename(_ path: String, to newPath: String) throws(PlatformError) {
    LockRank.expectIOAllowed()
    #if canImport(Darwin)
      let code = unsafe Darwin.rename(path, newPath)
    #elseif canImport(Musl)
      let code = unsafe Musl.rename(path, newPath)
    #else
      let code = unsafe Glibc.rename(path, newPath)
    #endif
    if code != 0 { throw PlatformError("rename", path: path, code: errno) }
  }

  /// Adds a second name with `link(2)`.
  public func link(_ path: String, to newPath: String) throws(PlatformError) {
    LockRank.expectIOAllowed()
    #if canImport(Darwin)
      let code = unsafe Darwin.link(path, newPath)
    #elseif canImport(Musl)
      let code = unsafe Musl.link(path, newPath)
    #else
      let code = unsafe Glibc.link(path, newPath)
    #endif
    if code != 0 { throw PlatformError("link", path: path, code: errno) }
  }

  /// Opens the directory and syncs it with `fsync(2)` (`F_FULLFSYNC` on Apple platforms).
  public func syncDirectory(_ directory: String) throws(PlatformError) {
    LockRank.expectIOAllowed()
    let descriptor = try Self.openDescriptor(directory, O_RDONLY | O_DIRECTORY)
    let code = esker_sync_directory(descriptor)
    closeDescriptor(descriptor)
    if code != 0 { throw .syncDirectory(path: directory, code: code) }
  }

  /// Calls `statvfs(3)`.
  public func freeSpace(at path: String) throws(PlatformError) -> Int {
    LockRank.expectIOAllowed()
    var result = statvfs()
    while unsafe statvfs(path, &result) != 0 {
      if errno != EINTR { throw PlatformError("get the free space of", path: path, code: errno) }
    }
    let (bytes, overflow) = UInt64(result.f_bavail).multipliedReportingOverflow(by: UInt64(result.f_frsize))
    return overflow ? Int.max : Int(clamping: bytes)
  }

  /// Opens the file and calls `fcntl(2)` with `F_SETPROTECTIONCLASS`, and `fsetxattr(2)` for what Foundation calls
  /// `isExcludedFromBackup`. Does nothing elsewhere than on Apple's platforms.
  public func set(_ attributes: FileAttributes, of path: String) throws(PlatformError) {
    LockRank.expectIOAllowed()
    guard esker_has_file_attributes(), !attributes.isEmpty else { return }
    let descriptor = try Self.openDescriptor(path, O_RDONLY)
    defer { closeDescriptor(descriptor) }
    var code: Int32 = 0
    if let protection = attributes.protection { code = esker_set_protection_class(descriptor, protection.number) }
    if code == 0, let isExcluded = attributes.isExcludedFromBackup {
      code = esker_set_backup_exclusion(descriptor, isExcluded)
    }
    if code != 0 { throw PlatformError("set the attributes of", path: path, code: code) }
  }

  static func openDescriptor(_ path: String, _ flags: Int32) throws(PlatformError) -> Int32 {
    while true {
      #if canImport(Darwin)
        let descriptor = unsafe Darwin.open(path, flags | O_CLOEXEC, 0o600)
      #elseif canImport(Musl)
        let descriptor = unsafe Musl.open(path, flags | O_CLOEXEC, 0o600)
      #else
        let descriptor = unsafe Glibc.open(path, flags | O_CLOEXEC, 0o600)
      #endif
      if descriptor >= 0 { return descriptor }
      if errno != EINTR { throw PlatformError("open", path: path, code: errno) }
    }
  }
}

/// Closes a descriptor.
///
/// No retry after `EINTR`: Linux has released the number by then and may have reused it.
func closeDescriptor(_ descriptor: Int32) {
  #if canImport(Darwin)
    _ = Darwin.close(descriptor)
  #elseif canImport(Musl)
    _ = Musl.close(descriptor)
  #else
    _ = Glibc.close(descriptor)
  #endif
}

extension FileProtection {
  /// The number of the class, as the system knows it: A to D.
  fileprivate var number: Int32 {
    switch self {
    case .complete: 1
    case .completeUnlessOpen: 2
    case .completeUntilFirstUserAuthentication: 3
    case .unprotected: 4
    }
  }
}

extension FileStatus {
  init(_ result: stat) {
    let kind: Kind =
      switch result.st_mode & S_IFMT {
      case S_IFREG: .file
      case S_IFDIR: .directory
      default: .other
      }
    self.init(kind: kind, size: Int(result.st_size), linkCount: Int(result.st_nlink))
  }
}
