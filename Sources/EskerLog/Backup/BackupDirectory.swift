internal import EskerFormat
internal import EskerPlatform

/// The directory that a backup is written to.
///
/// It becomes a store in one step, the last: a file that no store has is there from the start, is filled with the manifest
/// when all else is durable, and is then renamed. Until then, opening refuses the directory as a stranger's.
struct BackupDirectory: ~Copyable {
  private static let unfinishedName = "backup.unfinished"

  private let path: String
  private let fileSystem: any FileSystem
  private let unfinished: any File
  private var names = [Self.unfinishedName]

  /// Takes a path at which nothing is, or an empty directory.
  init(at path: String, host: Host) throws(StoreError) {
    self.path = path
    fileSystem = host.platform.fileSystem
    let fileSystem = fileSystem
    let directory = StoreDirectory(path: path, host: host)
    try directory.requireVacant()
    let parent = directory.parent
    unfinished = try translating { () throws(PlatformError) -> any File in
      if try fileSystem.status(path) == nil { try fileSystem.createDirectory(path) }
      let file = try fileSystem.open("\(path)/\(Self.unfinishedName)", .create)
      try fileSystem.syncDirectory(path)
      try fileSystem.syncDirectory(parent)
      return file
    }
  }

  /// Gives a file a second name here; false where that is not possible.
  mutating func share(_ original: String, as name: String) -> Bool {
    do throws(PlatformError) { try fileSystem.link(original, to: "\(path)/\(name)") } catch { return false }
    names.append(name)
    return true
  }

  /// Copies the first `length` bytes of a file, or as many of them as it has, durably.
  mutating func copy(_ original: any File, length: Int, as name: String) throws(StoreError) {
    let fileSystem = fileSystem
    let target = "\(path)/\(name)"
    names.append(name)
    do throws(PlatformError) {
      let file = try fileSystem.open(target, .create)
      defer { file.close() }
      for offset in stride(from: 0, to: length, by: 256 << 10) {
        let range = offset..<min(length, offset + 256 << 10)
        let bytes = try original.bytes(in: range)
        try file.writeAll(bytes, at: offset)
        if bytes.count < range.count { break }
      }
      try file.sync()
    } catch {
      throw StoreError(error, needed: length)
    }
  }

  /// Makes everything durable, and a store of the directory.
  mutating func finish(_ manifest: Manifest) throws(StoreError) {
    let bytes = manifest.encoded()
    let (path, fileSystem, unfinished) = (path, fileSystem, unfinished)
    do throws(PlatformError) {
      try unfinished.writeAll(bytes, at: 0)
      try unfinished.sync()
      // All names but the manifest's are durable before it appears.
      try fileSystem.syncDirectory(path)
      try fileSystem.rename("\(path)/\(Self.unfinishedName)", to: "\(path)/\(FileName.manifests[0])")
      names.append(FileName.manifests[0])
      try fileSystem.syncDirectory(path)
      names.append(FileName.manifests[1])
      let second = try fileSystem.open("\(path)/\(FileName.manifests[1])", .create)
      defer { second.close() }
      try second.writeAll(bytes, at: 0)
      try second.sync()
      try fileSystem.syncDirectory(path)
    } catch {
      throw StoreError(error, needed: bytes.count)
    }
    unfinished.close()
  }

  /// Removes what was written. Best effort: what stays is not a store, since the manifest goes first.
  consuming func abandon() {
    unfinished.close()
    for name in names.reversed() { try? fileSystem.remove("\(path)/\(name)") }
  }
}
