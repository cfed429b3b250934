import EskerPlatform

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// An in-memory disk that knows what a power failure would leave of it.
///
/// It is a complete `FileSystem`; paths start at an existing root directory. As on ext4, `File.sync` makes a file's bytes
/// and length durable but not its name, and `syncDirectory` makes names durable but not the files they refer to.
/// `crashImage` can be taken at any instant, from any thread, and does not disturb the running disk.
///
/// A mapping of a simulated file is a real one: here too, a store beyond the end of a truncated file raises the fault flag.
/// Safe to use from any thread.
public final class SimulatedDisk: FileSystem, @unchecked Sendable {
  typealias NodeID = SimulatedDirectory.NodeID
  static let root: NodeID = 0

  // Everything below is only touched with the lock held.
  let lock = Lock()
  var directories: [NodeID: SimulatedDirectory] = [SimulatedDisk.root: SimulatedDirectory()]
  var files: [NodeID: SimulatedInode] = [:]
  /// Changes to names that are not durable yet, oldest first.
  var changes: [DirectoryChange] = []
  var nextNode: NodeID = 1
  let capacity: Int?
  private var directoryOfProcess = "/"
  private var attributes: [NodeID: FileAttributes] = [:]

  /// Creates an empty disk of `capacity` bytes; nil for one that never fills up.
  ///
  /// Space is counted in pages of 4 KiB by the lengths of the files that have a name or are open.
  public init(capacity: Int? = nil) {
    self.capacity = capacity
  }

  /// The number of open files.
  public var openFileCount: Int {
    lock.withLock { files.values.reduce(0) { $0 + $1.openFiles } }
  }

  /// A platform with this disk, a clock that stands still and random numbers from `seed`.
  public func platform(clock: any SystemClock = FakeClock(), seed: UInt64 = 1, processID: Int32 = 4711) -> Platform {
    Platform.simulated(fileSystem: self, clock: clock, seed: seed, processID: processID)
  }

  /// Changes the working directory to an absolute path, as `chdir` does for the whole process.
  public func changeDirectory(to path: String) {
    lock.withLock { directoryOfProcess = path }
  }

  // MARK: FileSystem

  /// The directory last changed to; at first the root.
  public func workingDirectory() -> String { lock.withLock { directoryOfProcess } }

  /// Opens a file; fails as the system would, and with `ENOSPC` if a new file is requested on a full disk.
  public func open(_ path: String, _ mode: OpenMode) throws(PlatformError) -> any File {
    try lock.withLock { () throws(PlatformError) in
      let place = try locate(path, "open")
      if case .create = mode {
        guard place.node == nil else { throw PlatformError("open", path: path, code: EEXIST) }
        if freeBytes() <= 0 { throw PlatformError("open", path: path, code: ENOSPC) }
        let id = makeNode()
        let inode = SimulatedInode()
        files[id] = inode
        add(id, as: place)
        return SimulatedFile(path: path, disk: self, inode: inode, isWritable: true)
      }
      guard let id = place.node else { throw PlatformError("open", path: path, code: ENOENT) }
      guard let inode = files[id] else { throw PlatformError("open", path: path, code: EISDIR) }
      let isWritable = if case .readWrite = mode { true } else { false }
      return SimulatedFile(path: path, disk: self, inode: inode, isWritable: isWritable)
    }
  }

  /// The status of the file at a path.
  public func status(_ path: String) throws(PlatformError) -> FileStatus? {
    lock.withLock {
      guard let id = (try? locate(path, "status"))?.node else { return nil }
      if let inode = files[id] { return FileStatus(kind: .file, size: inode.length, linkCount: inode.links) }
      return FileStatus(kind: .directory, size: 0, linkCount: 1)
    }
  }

  /// The names in a directory.
  public func list(_ directory: String) throws(PlatformError) -> [String] {
    try lock.withLock { () throws(PlatformError) in
      let id = try locateDirectory(directory, "list")
      return directories[id].map { Array($0.entries.keys) } ?? []
    }
  }

  /// Creates a directory.
  public func createDirectory(_ path: String) throws(PlatformError) {
    try lock.withLock { () throws(PlatformError) in
      let place = try locate(path, "create the directory")
      guard place.node == nil else { throw PlatformError("create the directory", path: path, code: EEXIST) }
      if freeBytes() <= 0 { throw PlatformError("create the directory", path: path, code: ENOSPC) }
      let id = makeNode()
      directories[id] = SimulatedDirectory()
      add(id, as: place)
    }
  }

  /// Removes a file's name.
  public func remove(_ path: String) throws(PlatformError) {
    try lock.withLock { () throws(PlatformError) in
      let place = try locate(path, "remove")
      guard let id = place.node else { throw PlatformError("remove", path: path, code: ENOENT) }
      guard let inode = files[id] else { throw PlatformError("remove", path: path, code: EISDIR) }
      directories[place.directory]?.entries[place.name] = nil
      inode.links -= 1
      changes.append(DirectoryChange(kind: .remove(directory: place.directory, name: place.name, node: id)))
    }
  }

  /// Removes a directory that is empty.
  public func removeDirectory(_ path: String) throws(PlatformError) {
    try lock.withLock { () throws(PlatformError) in
      let place = try locate(path, "remove directory")
      guard let id = place.node else { throw PlatformError("remove directory", path: path, code: ENOENT) }
      guard let directory = directories[id] else { throw PlatformError("remove directory", path: path, code: ENOTDIR) }
      guard directory.entries.isEmpty else { throw PlatformError("remove directory", path: path, code: ENOTEMPTY) }
      directories[place.directory]?.entries[place.name] = nil
      changes.append(DirectoryChange(kind: .remove(directory: place.directory, name: place.name, node: id)))
    }
  }

  /// Renames a file, replacing what had the new name.
  public func rename(_ path: String, to newPath: String) throws(PlatformError) {
    try lock.withLock { () throws(PlatformError) in
      let source = try locate(path, "rename")
      let target = try locate(newPath, "rename")
      guard let id = source.node else { throw PlatformError("rename", path: path, code: ENOENT) }
      if target.node == id { return }
      if let replaced = target.node {
        guard let inode = files[replaced] else { throw PlatformError("rename", path: newPath, code: EISDIR) }
        guard files[id] != nil else { throw PlatformError("rename", path: newPath, code: ENOTDIR) }
        inode.links -= 1
      }
      directories[source.directory]?.entries[source.name] = nil
      directories[target.directory]?.entries[target.name] = id
      let kind = DirectoryChange.Kind.rename(
        node: id,
        from: source.directory,
        name: source.name,
        to: target.directory,
        newName: target.name
      )
      changes.append(DirectoryChange(kind: kind))
    }
  }

  /// Gives a file a second name.
  public func link(_ path: String, to newPath: String) throws(PlatformError) {
    try lock.withLock { () throws(PlatformError) in
      let source = try locate(path, "link")
      let target = try locate(newPath, "link")
      guard let id = source.node else { throw PlatformError("link", path: path, code: ENOENT) }
      guard files[id] != nil else { throw PlatformError("link", path: path, code: EPERM) }
      guard target.node == nil else { throw PlatformError("link", path: newPath, code: EEXIST) }
      add(id, as: target)
    }
  }

  /// Makes a directory's names durable, and both ends of any rename that involves it.
  public func syncDirectory(_ directory: String) throws(PlatformError) {
    try lock.withLock { () throws(PlatformError) in
      var synced: Set<NodeID> = [try locateDirectory(directory, "sync directory")]
      // A rename is durable at both of its ends or at neither, and so is everything before it there.
      while let other = changes.lazy.compactMap({ $0.otherEnd(of: synced) }).first { synced.insert(other) }
      for change in changes where change.concerns(synced) { change.apply(to: &directories) }
      changes.removeAll { $0.concerns(synced) }
      forgetLostFiles()
    }
  }

  /// The number of free bytes.
  public func freeSpace(at path: String) throws(PlatformError) -> Int {
    try lock.withLock { () throws(PlatformError) in
      if try locate(path, "free space").node == nil { throw PlatformError("free space", path: path, code: ENOENT) }
      return max(0, freeBytes())
    }
  }

  /// Notes attributes; see ``attributes(of:)``.
  public func set(_ new: FileAttributes, of path: String) throws(PlatformError) {
    try lock.withLock { () throws(PlatformError) in
      guard let id = try locate(path, "set the attributes of").node else {
        throw PlatformError("set the attributes of", path: path, code: ENOENT)
      }
      let old = attributes[id] ?? FileAttributes()
      attributes[id] = FileAttributes(
        protection: new.protection ?? old.protection,
        isExcludedFromBackup: new.isExcludedFromBackup ?? old.isExcludedFromBackup
      )
    }
  }

  /// What was last set; nothing in a crash image.
  public func attributes(of path: String) -> FileAttributes {
    lock.withLock { (try? locate(path, "find"))?.node.flatMap { attributes[$0] } ?? FileAttributes() }
  }

  // MARK: Space

  /// The number of free bytes; may be negative in a crash image, where removed files can reappear.
  func freeBytes() -> Int {
    guard let capacity else { return Int.max / 2 }
    let used = files.values.reduce(0) { sum, inode in
      inode.links > 0 || inode.openFiles > 0 ? sum + Self.space(for: inode.length) : sum
    }
    return capacity - used
  }

  static func space(for length: Int) -> Int {
    (length + PageImage.pageSize - 1) / PageImage.pageSize * PageImage.pageSize
  }

  // MARK: Names

  struct Place {
    var directory: NodeID
    var name: String
    var node: NodeID?
  }

  private func locate(_ path: String, _ operation: String) throws(PlatformError) -> Place {
    LockRank.expectIOAllowed()
    // The directories passed through, to resolve `..`.
    var trail: [Place] = [Place(directory: Self.root, name: "", node: Self.root)]
    let full = path.hasPrefix("/") ? path : "\(directoryOfProcess)/\(path)"
    for part in full.split(separator: "/") where part != "." {
      if part == ".." {
        if trail.count > 1 { trail.removeLast() }
        continue
      }
      guard let id = trail[trail.count - 1].node else { throw PlatformError(operation, path: path, code: ENOENT) }
      guard let directory = directories[id] else { throw PlatformError(operation, path: path, code: ENOTDIR) }
      trail.append(Place(directory: id, name: String(part), node: directory.entries[String(part)]))
    }
    return trail[trail.count - 1]
  }

  private func locateDirectory(_ path: String, _ operation: String) throws(PlatformError) -> NodeID {
    guard let id = try locate(path, operation).node else { throw PlatformError(operation, path: path, code: ENOENT) }
    guard directories[id] != nil else { throw PlatformError(operation, path: path, code: ENOTDIR) }
    return id
  }

  private func makeNode() -> NodeID {
    defer { nextNode += 1 }
    return nextNode
  }

  private func add(_ node: NodeID, as place: Place) {
    directories[place.directory]?.entries[place.name] = node
    files[node]?.links += 1
    changes.append(DirectoryChange(kind: .add(directory: place.directory, name: place.name, node: node)))
  }

  /// Drops files that neither a program nor any crash can find again.
  private func forgetLostFiles() {
    var reachable: Set<NodeID> = []
    for directory in directories.values {
      reachable.formUnion(directory.entries.values)
      reachable.formUnion(directory.durable.values)
    }
    for change in changes {
      switch change.kind {
      case .add(_, _, let node), .remove(_, _, let node), .rename(let node, _, _, _, _): reachable.insert(node)
      }
    }
    files = files.filter { reachable.contains($0.key) || $0.value.openFiles > 0 }
  }
}

extension Platform {
  /// A platform over a simulated (or wrapped) file system, with random numbers from `seed`. With every other seed there is no memory
  /// for files.
  public static func simulated(
    fileSystem: any FileSystem,
    clock: any SystemClock = FakeClock(),
    seed: UInt64 = 1,
    processID: Int32 = 4711
  ) -> Platform {
    let generator = SharedGenerator(SeededGenerator(seed: seed))
    return Platform(
      fileSystem: fileSystem,
      clock: clock,
      random: { generator.next() },
      processID: processID,
      pageCacheRoom: { seed % 2 == 0 ? 0 : nil }
    )
  }
}

private final class SharedGenerator: Sendable {
  private let generator: Guarded<SeededGenerator>

  init(_ generator: SeededGenerator) {
    self.generator = Guarded(generator)
  }

  func next() -> UInt64 {
    generator.withLock { $0.next() }
  }
}
