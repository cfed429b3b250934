import EskerPlatform

/// A file system on which footers cannot be written while a flag is raised: full segments then stay unsealed, as they do
/// while a burst of writes goes on.
struct FooterlessFileSystem: FileSystem {
  let base: any FileSystem
  let isFooterless: Flag

  func open(_ path: String, _ mode: OpenMode) throws(PlatformError) -> any File {
    FooterlessFile(base: try base.open(path, mode), isFooterless: isFooterless)
  }

  func workingDirectory() throws(PlatformError) -> String { try base.workingDirectory() }
  func status(_ path: String) throws(PlatformError) -> FileStatus? { try base.status(path) }
  func list(_ directory: String) throws(PlatformError) -> [String] { try base.list(directory) }
  func createDirectory(_ path: String) throws(PlatformError) { try base.createDirectory(path) }
  func remove(_ path: String) throws(PlatformError) { try base.remove(path) }
  func removeDirectory(_ path: String) throws(PlatformError) { try base.removeDirectory(path) }
  func rename(_ path: String, to newPath: String) throws(PlatformError) { try base.rename(path, to: newPath) }
  func link(_ path: String, to newPath: String) throws(PlatformError) { try base.link(path, to: newPath) }
  func syncDirectory(_ directory: String) throws(PlatformError) { try base.syncDirectory(directory) }
  func freeSpace(at path: String) throws(PlatformError) -> Int { try base.freeSpace(at: path) }
}

private final class FooterlessFile: File {
  let base: any File
  let isFooterless: Flag

  init(base: any File, isFooterless: Flag) {
    self.base = base
    self.isFooterless = isFooterless
  }

  var path: String { base.path }

  func write(_ buffer: UnsafeRawBufferPointer, at offset: Int) throws(PlatformError) {
    // The trailer that ends a footer has 96 bytes, and this magic.
    if isFooterless.isRaised, buffer.count >= 96, buffer[(buffer.count - 96)...].starts(with: "ESKRFTR1".utf8) {
      throw PlatformError("write", path: path, code: 5)
    }
    try base.write(buffer, at: offset)
  }

  func status() throws(PlatformError) -> FileStatus { try base.status() }
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(PlatformError) -> Int {
    try base.read(into: buffer, at: offset)
  }
  func nextData(from offset: Int) -> Int? { base.nextData(from: offset) }
  func reserve(_ length: Int) throws(PlatformError) { try base.reserve(length) }
  func truncate(_ length: Int) throws(PlatformError) { try base.truncate(length) }
  func sync() throws(PlatformError) { try base.sync() }
  func beginWriteBack(_ range: Range<Int>) { base.beginWriteBack(range) }
  func map(capacity: Int, writable: Bool) throws(PlatformError) -> any Mapping {
    try base.map(capacity: capacity, writable: writable)
  }
  func mapPrivate(_ range: Range<Int>) throws(PlatformError) -> any Mapping { try base.mapPrivate(range) }
  func tryLock(exclusive: Bool) throws(PlatformError) -> Bool { try base.tryLock(exclusive: exclusive) }
  func close() { base.close() }
}

/// Something that is so or not, for several threads.
final class Flag: Sendable {
  private let value = Guarded(false)

  var isRaised: Bool { value.withLock { $0 } }
  func lower() { value.withLock { $0 = false } }
  func toggle() { value.withLock { $0.toggle() } }
}
