internal import EskerFormat
internal import EskerPlatform

/// A directory in which a copy of a store is being made.
///
/// It contains a durable mark from the start until everything else is durable. So whatever a crash leaves can be
/// recognised: opening refuses it, naming the mark, and repeating the same command first removes what is left. The mark
/// says to which store the files of the copy belong, and is locked while a process is writing the copy.
struct MarkedDirectory: ~Copyable {
  let path: String
  /// The store id in every file of the copy.
  let storeID: StoreID
  private let kind: CopyKind
  private let fileSystem: any FileSystem
  private let mark: any File
  private let isCreated: Bool
  /// Whether the mark certainly exists.
  private var isMarked = true

  private var markPath: String { "\(path)/\(kind.mark)" }

  /// Takes a path that does not exist, an empty directory, or what is left of a copy of the same kind.
  init(at path: String, for kind: CopyKind, of storeID: StoreID, host: StoreHost) throws(StoreError) {
    let fileSystem = host.platform.fileSystem
    let directory = StoreDirectory(path: path, host: host)
    let names = try directory.namesForCopy(of: kind)
    let contents = CopyMark(processID: UInt32(bitPattern: host.platform.processID), storeID: storeID).encoded()
    let file: any File
    if let names, !names.isEmpty {
      file = try Self.takeOver(contents, at: path, kind, names, fileSystem)
    } else {
      file = try Self.create(contents, at: directory, kind, isNew: names == nil, fileSystem)
    }
    self.path = path
    self.kind = kind
    self.storeID = storeID
    self.fileSystem = fileSystem
    isCreated = names == nil
    mark = file
  }

  private static func create(
    _ contents: [UInt8],
    at directory: StoreDirectory,
    _ kind: CopyKind,
    isNew: Bool,
    _ fileSystem: any FileSystem
  ) throws(StoreError) -> any File {
    let path = directory.path
    let name = "\(path)/\(kind.mark)"
    let file = try translating { () throws(PlatformError) in
      if isNew { try fileSystem.createDirectory(path) }
      do throws(PlatformError) { return try fileSystem.open(name, .create) } catch {
        if isNew { try? fileSystem.removeDirectory(path) }
        throw error
      }
    }
    do throws(StoreError) {
      try lock(file, at: path, kind, fileSystem)
      try translating { () throws(PlatformError) in
        try file.writeAll(contents, at: 0)
        try file.sync()
        try fileSystem.syncDirectory(path)
        try fileSystem.syncDirectory(directory.parent)
      }
      // Another process may have begun a store here since the directory was checked.
      let names = try translating { () throws(PlatformError) in try fileSystem.list(path) }
      guard names == [kind.mark] else { throw .directoryNotEmpty(path: path) }
    } catch {
      file.close()
      if (try? fileSystem.remove(name)) != nil, isNew { try? fileSystem.removeDirectory(path) }
      throw error
    }
    return file
  }

  /// Takes over the directory of an interrupted copy: removes what is left of that, and nothing else.
  private static func takeOver(
    _ contents: [UInt8],
    at path: String,
    _ kind: CopyKind,
    _ names: [String],
    _ fileSystem: any FileSystem
  ) throws(StoreError) -> any File {
    let file = try translating { () throws(PlatformError) in try fileSystem.open("\(path)/\(kind.mark)", .readWrite) }
    do throws(StoreError) {
      try lock(file, at: path, kind, fileSystem)
      let left = CopyMark(file)
      let others = names.filter { $0 != kind.mark }
      // The mark is complete before anything else is written.
      guard others.isEmpty || left != nil else { throw .directoryNotEmpty(path: path) }
      if let left { try clear(others, at: path, of: left.storeID, fileSystem) }
      try translating { () throws(PlatformError) in
        try file.writeAll(contents, at: 0)
        try file.sync()
        try fileSystem.syncDirectory(path)
      }
    } catch {
      file.close()
      throw error
    }
    return file
  }

  /// Throws if another process is writing a copy here. If the file cannot be locked at all, assumes that none is.
  private static func lock(
    _ file: any File,
    at path: String,
    _ kind: CopyKind,
    _ fileSystem: any FileSystem
  ) throws(StoreError) {
    if (try? file.tryLock(exclusive: true)) == false { throw kind.unfinished(at: path, fileSystem) }
  }

  /// Removes the files of a copy, durably; throws before removing any if there are other files.
  private static func clear(
    _ names: [String],
    at path: String,
    of storeID: StoreID,
    _ fileSystem: any FileSystem
  ) throws(StoreError) {
    let files = StoreFiles(directory: path, storeID: storeID, fileSystem: fileSystem)
    guard names.allSatisfy({ files.owns($0) }) else { throw .directoryNotEmpty(path: path) }
    try translating { () throws(PlatformError) in
      for name in names { try fileSystem.remove("\(path)/\(name)") }
      try fileSystem.syncDirectory(path)
    }
  }

  /// Removes the mark: everything else is durable, and the directory is now a store.
  mutating func finish() throws(StoreError) {
    let (path, markPath, fileSystem) = (path, markPath, fileSystem)
    do throws(PlatformError) {
      try fileSystem.syncDirectory(path)
      try fileSystem.remove(markPath)
      isMarked = false
      try fileSystem.syncDirectory(path)
    } catch { throw StoreError(error) }
    mark.close()
  }

  /// Removes what was written, and then the mark. Best effort: the mark stays if anything else does.
  consuming func abandon() {
    defer { mark.close() }
    // Without the mark this is a complete store, though a power failure may bring the mark back.
    guard isMarked, let names = try? fileSystem.list(path) else { return }
    let others = names.filter { $0 != kind.mark }
    guard (try? Self.clear(others, at: path, of: storeID, fileSystem)) != nil,
      (try? fileSystem.remove(markPath)) != nil
    else { return }
    if isCreated { try? fileSystem.removeDirectory(path) } else { try? fileSystem.syncDirectory(path) }
  }
}
