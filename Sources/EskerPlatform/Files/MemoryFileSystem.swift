import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Files in memory, in a directory that only this object knows; all other paths are the operating system's.
///
/// Each is a nameless file of the system's (`memfd_create` on Linux, a file without a name elsewhere), so that mappings, holes and growth
/// are those of any file. It needs a descriptor as long as it has a name or is open. What is synced is as durable as the process.
package final class MemoryFileSystem: FileSystem {
  fileprivate final class Node: Sendable {
    let scratch: ScratchFile
    /// The number of names, and who has it locked.
    let state = Guarded(State(), .leaf)

    struct State {
      var links = 1
      var exclusive: ObjectIdentifier?
      var shared: Set<ObjectIdentifier> = []
    }

    init() throws(PlatformError) { scratch = try ScratchFile() }
  }

  private enum Entry {
    case directory
    case file(Node)
  }

  private static let made = Atomic<Int>(0)

  /// The directory in memory.
  package let root: String
  /// By their paths, all of them below the root or the root itself.
  private let entries: Guarded<[String: Entry]>
  private let system = OSFileSystem()

  package init() {
    root = "/esker-in-memory/\(Self.made.add(1, ordering: .relaxed).newValue)"
    entries = Guarded([root: .directory], .leaf)
  }

  /// The path without `.` and `..`, if it leads into this directory.
  private func place(_ path: String) -> String? {
    guard path.utf8.starts(with: root.utf8), path.utf8.count == root.utf8.count || path.hasPrefix(root + "/") else {
      return nil
    }
    guard Self.mayHaveDots(path) else { return path }
    var parts: [Substring] = []
    for part in path.dropFirst(root.count).split(separator: "/") where part != "." {
      if part == ".." {
        guard parts.popLast() != nil else { return nil }
      } else {
        parts.append(part)
      }
    }
    return ([root[...]] + parts).joined(separator: "/")
  }

  /// Whether a part of the path may be empty, `.` or `..`: those of an engine's own calls are not, and are many in an opening.
  private static func mayHaveDots(_ path: String) -> Bool {
    var previous: UInt8 = 0
    for byte in path.utf8 {
      if previous == UInt8(ascii: "/"), byte == previous || byte == UInt8(ascii: ".") { return true }
      previous = byte
    }
    return previous == UInt8(ascii: "/")
  }

  private func requireParent(
    of path: String,
    in entries: [String: Entry],
    _ operation: String
  ) throws(PlatformError) {
    let parent = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    switch entries[parent] {
    case .directory: break
    case .file: throw PlatformError(operation, path: path, code: ENOTDIR)
    case nil: throw PlatformError(operation, path: path, code: ENOENT)
    }
  }

  package func workingDirectory() throws(PlatformError) -> String { try system.workingDirectory() }

  package func open(_ path: String, _ mode: OpenMode) throws(PlatformError) -> any File {
    guard let path = place(path) else { return try system.open(path, mode) }
    guard case .create = mode else {
      let entry = try entries.withLock { (entries) throws(PlatformError) in
        try requireParent(of: path, in: entries, "open")
        return entries[path]
      }
      guard let entry else { throw PlatformError("open", path: path, code: ENOENT) }
      guard case .file(let node) = entry else { throw PlatformError("open", path: path, code: EISDIR) }
      let isWritable = if case .readWrite = mode { true } else { false }
      return MemoryFile(path: path, node, isWritable: isWritable)
    }
    let node = try Node()
    try entries.withLock { (entries) throws(PlatformError) in
      try requireParent(of: path, in: entries, "open")
      if entries[path] != nil { throw PlatformError("open", path: path, code: EEXIST) }
      entries[path] = .file(node)
    }
    return MemoryFile(path: path, node, isWritable: true)
  }

  package func status(_ path: String) throws(PlatformError) -> FileStatus? {
    guard let path = place(path) else { return try system.status(path) }
    switch entries.withLock({ $0[path] }) {
    case nil: return nil
    case .directory: return FileStatus(kind: .directory, size: 0, linkCount: 1)
    case .file(let node): return try MemoryFile(path: path, node, isWritable: false).status()
    }
  }

  package func list(_ directory: String) throws(PlatformError) -> [String] {
    guard let directory = place(directory) else { return try system.list(directory) }
    return try entries.withLock { (entries) throws(PlatformError) in
      guard case .directory? = entries[directory] else {
        throw PlatformError("list", path: directory, code: entries[directory] == nil ? ENOENT : ENOTDIR)
      }
      let prefix = directory + "/"
      return entries.keys.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
        .filter { !$0.contains("/") }
    }
  }

  package func createDirectory(_ path: String) throws(PlatformError) {
    guard let path = place(path) else { return try system.createDirectory(path) }
    try entries.withLock { (entries) throws(PlatformError) in
      try requireParent(of: path, in: entries, "create the directory")
      if entries[path] != nil { throw PlatformError("create the directory", path: path, code: EEXIST) }
      entries[path] = .directory
    }
  }

  package func remove(_ path: String) throws(PlatformError) {
    guard let path = place(path) else { return try system.remove(path) }
    let node = try entries.withLock { (entries) throws(PlatformError) in
      switch entries[path] {
      case nil: throw PlatformError("remove", path: path, code: ENOENT)
      case .directory: throw PlatformError("remove", path: path, code: EISDIR)
      case .file(let node):
        entries[path] = nil
        return node
      }
    }
    node.changeLinks(by: -1)
  }

  package func removeDirectory(_ path: String) throws(PlatformError) {
    guard let path = place(path) else { return try system.removeDirectory(path) }
    guard try list(path).isEmpty else { throw PlatformError("remove directory", path: path, code: ENOTEMPTY) }
    entries.withLock { $0[path] = nil }
  }

  package func rename(_ path: String, to newPath: String) throws(PlatformError) {
    let places = (place(path), place(newPath))
    if places.0 == nil, places.1 == nil { return try system.rename(path, to: newPath) }
    guard let path = places.0, let newPath = places.1 else { throw PlatformError("rename", path: path, code: EXDEV) }
    let replaced = try entries.withLock { (entries) throws(PlatformError) -> Entry? in
      try requireParent(of: newPath, in: entries, "rename")
      guard let entry = entries[path] else { throw PlatformError("rename", path: path, code: ENOENT) }
      entries[path] = nil
      defer { entries[newPath] = entry }
      return entries[newPath]
    }
    if case .file(let node)? = replaced { node.changeLinks(by: -1) }
  }

  package func link(_ path: String, to newPath: String) throws(PlatformError) {
    let places = (place(path), place(newPath))
    if places.0 == nil, places.1 == nil { return try system.link(path, to: newPath) }
    guard let path = places.0, let newPath = places.1 else { throw PlatformError("link", path: path, code: EXDEV) }
    let node = try entries.withLock { (entries) throws(PlatformError) in
      guard case .file(let node)? = entries[path] else { throw PlatformError("link", path: path, code: ENOENT) }
      try requireParent(of: newPath, in: entries, "link")
      if entries[newPath] != nil { throw PlatformError("link", path: newPath, code: EEXIST) }
      entries[newPath] = .file(node)
      return node
    }
    node.changeLinks(by: 1)
  }

  package func syncDirectory(_ directory: String) throws(PlatformError) {
    guard place(directory) != nil else { return try system.syncDirectory(directory) }
    _ = try list(directory)
  }

  /// As much as anybody asks for: memory that is not there ends the process.
  package func freeSpace(at path: String) throws(PlatformError) -> Int {
    place(path) != nil ? .max / 2 : try system.freeSpace(at: path)
  }
}

extension MemoryFileSystem.Node {
  fileprivate func changeLinks(by change: Int) { state.withLock { $0.links += change } }
}

/// An open file in memory.
///
/// Safety: buffers are used only while the caller lends them.
private final class MemoryFile: File {
  let path: String
  private let node: MemoryFileSystem.Node
  private let isWritable: Bool
  private let isOpen = Atomic<Bool>(true)

  init(path: String, _ node: MemoryFileSystem.Node, isWritable: Bool) {
    self.path = path
    self.node = node
    self.isWritable = isWritable
  }

  deinit { close() }

  func close() {
    isOpen.store(false, ordering: .sequentiallyConsistent)
    node.state.withLock { release(&$0) }
  }

  func status() throws(PlatformError) -> FileStatus {
    var status = try named { (file) throws(PlatformError) in try file.status() }
    status.linkCount = node.state.withLock { $0.links }
    return status
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(PlatformError) -> Int {
    try named { (file) throws(PlatformError) in try unsafe file.read(into: buffer, at: offset) }
  }

  func nextData(from offset: Int) -> Int? { node.scratch.file.nextData(from: offset) }

  func write(_ buffer: UnsafeRawBufferPointer, at offset: Int) throws(PlatformError) {
    try named(writing: true) { (file) throws(PlatformError) in try unsafe file.write(buffer, at: offset) }
  }

  /// Memory is taken when it is used.
  func reserve(_ length: Int) throws(PlatformError) {
    guard try status().size < length else { return }
    try truncate(length)
  }

  func truncate(_ length: Int) throws(PlatformError) {
    try named(writing: true) { (file) throws(PlatformError) in try file.truncate(length) }
  }

  /// Nothing outlives the process.
  func sync() throws(PlatformError) { try named { (_) throws(PlatformError) in } }

  func map(capacity: Int, writable: Bool) throws(PlatformError) -> any Mapping {
    if writable, !isWritable { throw PlatformError("map", path: path, code: EACCES) }
    return try named { (file) throws(PlatformError) in try file.map(capacity: capacity, writable: writable) }
  }

  func mapPrivate(_ range: Range<Int>) throws(PlatformError) -> any Mapping {
    try named { (file) throws(PlatformError) in try file.mapPrivate(range) }
  }

  func tryLock(exclusive: Bool) throws(PlatformError) -> Bool {
    try named { (_) throws(PlatformError) in }
    let me = ObjectIdentifier(self)
    return node.state.withLock { state in
      if let holder = state.exclusive, holder != me { return false }
      if exclusive, !state.shared.subtracting([me]).isEmpty { return false }
      release(&state)
      if exclusive { state.exclusive = me } else { state.shared.insert(me) }
      return true
    }
  }

  private func release(_ state: inout MemoryFileSystem.Node.State) {
    let me = ObjectIdentifier(self)
    state.shared.remove(me)
    if state.exclusive == me { state.exclusive = nil }
  }

  /// Runs a call on the nameless file; its errors have this one's name.
  private func named<R>(
    writing: Bool = false,
    _ call: (any File) throws(PlatformError) -> R
  ) throws(PlatformError) -> R {
    guard isOpen.load(ordering: .sequentiallyConsistent), isWritable || !writing else {
      throw PlatformError("write", path: path, code: EBADF)
    }
    do throws(PlatformError) { return try call(node.scratch.file) } catch {
      throw PlatformError(error.operation, path: path, code: error.code)
    }
  }
}
