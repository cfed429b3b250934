/// When the contents of a file can be read, on devices that encrypt each file with a key of its own.
public enum FileProtection: Sendable, Hashable, CaseIterable {
  /// Only while the device is unlocked.
  case complete
  /// As `complete`, but an open file stays usable.
  case completeUnlessOpen
  /// From the first time that the device is unlocked after it was started.
  case completeUntilFirstUserAuthentication
  /// Always.
  case unprotected
}

/// What Apple's systems know of a file besides its permissions; nil leaves it as it is.
public struct FileAttributes: Sendable, Hashable {
  /// When it can be read.
  public var protection: FileProtection?
  /// Whether backups of the device leave it out.
  public var isExcludedFromBackup: Bool?

  /// Attributes to set; nil leaves one as it is.
  public init(protection: FileProtection? = nil, isExcludedFromBackup: Bool? = nil) {
    self.protection = protection
    self.isExcludedFromBackup = isExcludedFromBackup
  }

  /// Whether nothing is to be set.
  public var isEmpty: Bool { protection == nil && isExcludedFromBackup == nil }
}

/// A file system that gives every file and directory it creates the same attributes, before anything is in it.
public struct AttributingFileSystem: FileSystem {
  private let base: any FileSystem
  private let attributes: FileAttributes

  /// Passes all calls on to `base`.
  public init(_ base: any FileSystem, _ attributes: FileAttributes) {
    self.base = base
    self.attributes = attributes
  }

  /// Opens a file. Of a new one that cannot get the attributes, nothing is left.
  public func open(_ path: String, _ mode: OpenMode) throws(PlatformError) -> any File {
    let file = try base.open(path, mode)
    guard case .create = mode else { return file }
    do throws(PlatformError) { try base.set(attributes, of: path) } catch {
      file.close()
      try? base.remove(path)
      throw error
    }
    return file
  }

  /// Creates a directory. If it cannot get the attributes, it is not there.
  public func createDirectory(_ path: String) throws(PlatformError) {
    try base.createDirectory(path)
    do throws(PlatformError) { try base.set(attributes, of: path) } catch {
      try? base.removeDirectory(path)
      throw error
    }
  }

  /// Sets other attributes than those of this file system.
  public func set(_ attributes: FileAttributes, of path: String) throws(PlatformError) {
    try base.set(attributes, of: path)
  }

  /// The working directory.
  public func workingDirectory() throws(PlatformError) -> String { try base.workingDirectory() }

  /// The status of the file at a path.
  public func status(_ path: String) throws(PlatformError) -> FileStatus? { try base.status(path) }

  /// The names in a directory.
  public func list(_ directory: String) throws(PlatformError) -> [String] { try base.list(directory) }

  /// Removes a name.
  public func remove(_ path: String) throws(PlatformError) { try base.remove(path) }

  /// Removes an empty directory.
  public func removeDirectory(_ path: String) throws(PlatformError) { try base.removeDirectory(path) }

  /// Renames a file, which keeps its attributes.
  public func rename(_ path: String, to newPath: String) throws(PlatformError) { try base.rename(path, to: newPath) }

  /// Adds a name of the same file, with the attributes that it has.
  public func link(_ path: String, to newPath: String) throws(PlatformError) { try base.link(path, to: newPath) }

  /// Makes names durable.
  public func syncDirectory(_ directory: String) throws(PlatformError) { try base.syncDirectory(directory) }

  /// Free bytes.
  public func freeSpace(at path: String) throws(PlatformError) -> Int { try base.freeSpace(at: path) }
}
