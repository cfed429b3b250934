import EskerPlatform

/// Any file system, with faults in its calls according to a `FaultPlan`.
///
/// It sits above the loops that finish short transfers and interrupted calls, so those do not show here; they have tests of
/// their own. Stores to a mapping are not calls and cannot fail here: what a power failure does to them is up to
/// `SimulatedDisk`.
public struct FaultyFileSystem: FileSystem {
  private let base: any FileSystem
  private let plan: FaultPlan

  /// Applies `plan` to every call to `base`.
  public init(_ base: any FileSystem, plan: FaultPlan) {
    self.base = base
    self.plan = plan
  }

  /// The working directory; rules see no path.
  public func workingDirectory() throws(PlatformError) -> String {
    try plan.check(.workingDirectory, "")
    return try base.workingDirectory()
  }

  /// Opens a file; `create` counts as an operation of its own.
  public func open(_ path: String, _ mode: OpenMode) throws(PlatformError) -> any File {
    switch mode {
    case .create: try plan.check(.create, path)
    case .read: try plan.check(.open, path)
    case .readWrite: try plan.check(.open, path, isForWriting: true)
    }
    return FaultyFile(try base.open(path, mode), plan: plan)
  }

  /// The status of the file at a path.
  public func status(_ path: String) throws(PlatformError) -> FileStatus? {
    try plan.check(.status, path)
    return try base.status(path)
  }

  /// The names in a directory.
  public func list(_ directory: String) throws(PlatformError) -> [String] {
    try plan.check(.list, directory)
    return try base.list(directory)
  }

  /// Creates a directory.
  public func createDirectory(_ path: String) throws(PlatformError) {
    try plan.check(.createDirectory, path)
    try base.createDirectory(path)
  }

  /// Removes a name.
  public func remove(_ path: String) throws(PlatformError) {
    try plan.check(.remove, path)
    try base.remove(path)
  }

  /// Removes an empty directory.
  public func removeDirectory(_ path: String) throws(PlatformError) {
    try plan.check(.removeDirectory, path)
    try base.removeDirectory(path)
  }

  /// Renames; rules see the new name.
  public func rename(_ path: String, to newPath: String) throws(PlatformError) {
    try plan.check(.rename, newPath)
    try base.rename(path, to: newPath)
  }

  /// Adds a name; rules see the new one.
  public func link(_ path: String, to newPath: String) throws(PlatformError) {
    try plan.check(.link, newPath)
    try base.link(path, to: newPath)
  }

  /// Makes names durable.
  public func syncDirectory(_ directory: String) throws(PlatformError) {
    try plan.check(.syncDirectory, directory)
    try base.syncDirectory(directory)
  }

  /// Sets attributes.
  public func set(_ attributes: FileAttributes, of path: String) throws(PlatformError) {
    try plan.check(.setAttributes, path)
    try base.set(attributes, of: path)
  }

  /// Free bytes.
  public func freeSpace(at path: String) throws(PlatformError) -> Int {
    try plan.check(.freeSpace, path)
    return try base.freeSpace(at: path)
  }
}

extension FaultPlan {
  /// Applies the plan to a call that either succeeds or fails; other effects are ignored.
  func check(_ operation: FaultOperation, _ path: String, isForWriting: Bool = false) throws(PlatformError) {
    switch effect(operation, path) {
    case .error(let code), .failedSync(let code, _), .partial(_, let code):
      if operation == .syncDirectory { throw .syncDirectory(path: path, code: code) }
      throw PlatformError(operation.rawValue, path: path, code: code)
    case .refusesWriting(let code):
      if isForWriting { throw PlatformError(operation.rawValue, path: path, code: code) }
    case .split, .flipBit, nil: return
    }
  }
}
