import EskerPlatform

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// This process's limit on open files; to be changed only in exit tests.
public enum FileLimit {
  /// Leaves room for `count` more files in addition to those open, which may include inherited ones; returns the new limit.
  @discardableResult
  public static func leave(_ count: Int) throws -> Int {
    var limit = 0
    var free = 0
    while free < count {
      if fcntl(Int32(limit), F_GETFD) == -1 { free += 1 }
      limit += 1
    }
    try ResourceLimit.openFiles.set(limit)
    return limit
  }

  /// The descriptors below `limit` of open files in `directory`; other descriptors of the process come and go.
  public static func descriptors(of directory: TemporaryDirectory, below limit: Int) throws -> [Int] {
    var files: Set<[UInt64]> = []
    for name in try OSFileSystem().list(directory.path) {
      var status = stat()
      if stat(directory.appending(name), &status) == 0 { files.insert(identity(status)) }
    }
    return (0..<limit).filter { descriptor in
      var status = stat()
      return fstat(Int32(descriptor), &status) == 0 && files.contains(identity(status))
    }
  }

  private static func identity(_ status: stat) -> [UInt64] {
    [UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino)]
  }
}
