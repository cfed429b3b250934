import EskerPlatform
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// An open file of a simulated disk.
final class SimulatedFile: File, @unchecked Sendable {
  let path: String
  private let disk: SimulatedDisk
  // Guarded by the disk's lock.
  private let inode: SimulatedInode
  private let isWritable: Bool
  private let isOpen = Atomic<Bool>(true)

  /// Called with the disk's lock held.
  init(path: String, disk: SimulatedDisk, inode: SimulatedInode, isWritable: Bool) {
    self.path = path
    self.disk = disk
    self.inode = inode
    self.isWritable = isWritable
    inode.openFiles += 1
  }

  deinit {
    close()
    disk.lock.withLock {
      inode.openFiles -= 1
      inode.releaseIfIdle()
    }
  }

  func close() {
    guard isOpen.exchange(false, ordering: .sequentiallyConsistent) else { return }
    disk.lock.withLock { releaseLock() }
  }

  func status() throws(PlatformError) -> FileStatus {
    try locked("status") { () throws(PlatformError) in
      FileStatus(kind: .file, size: inode.length, linkCount: inode.links)
    }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(PlatformError) -> Int {
    try locked("read") { () throws(PlatformError) in
      try inode.contents().read(into: buffer, at: offset)
    }
  }

  func write(_ buffer: UnsafeRawBufferPointer, at offset: Int) throws(PlatformError) {
    try locked("write", writing: true) { () throws(PlatformError) in
      guard !buffer.isEmpty else { return }
      let end = offset + buffer.count
      let limit = lengthLimit()
      guard end > limit else {
        try inode.contents().write(buffer, at: offset)
        inode.wrote(offset..<end)
        return
      }
      // Whatever fits is written before the disk reports that it is full.
      if offset < limit {
        try inode.contents().write(UnsafeRawBufferPointer(rebasing: buffer[..<(limit - offset)]), at: offset)
        inode.wrote(offset..<limit)
      }
      throw PlatformError("write", path: path, code: ENOSPC)
    }
  }

  func reserve(_ length: Int) throws(PlatformError) {
    try locked("reserve", writing: true) { () throws(PlatformError) in
      guard length > inode.length else { return }
      if length > lengthLimit() { throw PlatformError("reserve", path: path, code: ENOSPC) }
      try inode.setLength(length)
    }
  }

  func truncate(_ length: Int) throws(PlatformError) {
    try locked("truncate", writing: true) { () throws(PlatformError) in
      guard length >= 0 else { throw PlatformError("truncate", path: path, code: EINVAL) }
      if length > max(inode.length, lengthLimit()) { throw PlatformError("truncate", path: path, code: ENOSPC) }
      try inode.setLength(length)
    }
  }

  func sync() throws(PlatformError) {
    try locked("sync") { () throws(PlatformError) in try inode.sync() }
  }

  /// Behaves like a kernel whose write-back failed: dirty pages stay visible and count as written, but are not durable.
  func forgetDirtyPages() throws(PlatformError) {
    try locked("sync") { () throws(PlatformError) in try inode.forgetDirtyPages() }
  }

  func map(capacity: Int, writable: Bool) throws(PlatformError) -> any Mapping {
    try locked("map") { () throws(PlatformError) in
      if writable && !isWritable { throw PlatformError("map", path: path, code: EACCES) }
      return SimulatedMapping(try inode.contents().map(capacity: capacity, writable: writable), of: self)
    }
  }

  func mapPrivate(_ range: Range<Int>) throws(PlatformError) -> any Mapping {
    try locked("map") { () throws(PlatformError) in
      SimulatedMapping(try inode.contents().mapPrivate(range), of: self)
    }
  }

  func tryLock(exclusive: Bool) throws(PlatformError) -> Bool {
    try locked("lock") { () throws(PlatformError) in
      let me = ObjectIdentifier(self)
      if let holder = inode.exclusiveLock, holder != me { return false }
      if exclusive && !inode.sharedLocks.subtracting([me]).isEmpty { return false }
      releaseLock()
      if exclusive { inode.exclusiveLock = me } else { inode.sharedLocks.insert(me) }
      return true
    }
  }

  private func releaseLock() {
    let me = ObjectIdentifier(self)
    inode.sharedLocks.remove(me)
    if inode.exclusiveLock == me { inode.exclusiveLock = nil }
  }

  /// The length that the disk's free space allows for this file.
  private func lengthLimit() -> Int {
    SimulatedDisk.space(for: inode.length) + max(0, disk.freeBytes())
  }

  private func locked<Result>(
    _ operation: String,
    writing: Bool = false,
    _ body: () throws(PlatformError) -> Result
  ) throws(PlatformError) -> Result {
    LockRank.expectIOAllowed()
    return try disk.lock.withLock { () throws(PlatformError) in
      guard isOpen.load(ordering: .sequentiallyConsistent), isWritable || !writing else {
        throw PlatformError(operation, path: path, code: EBADF)
      }
      do throws(PlatformError) {
        return try body()
      } catch {
        // Errors of the underlying nameless file are reported with this file's name.
        throw PlatformError(operation, path: path, code: error.code)
      }
    }
  }
}

/// A mapping of a simulated file; keeps the file alive.
final class SimulatedMapping: Mapping {
  private let real: any Mapping
  private let file: SimulatedFile

  init(_ real: any Mapping, of file: SimulatedFile) {
    self.real = real
    self.file = file
  }

  var base: UnsafeMutableRawPointer { real.base }
  var length: Int { real.length }
  var faultFlag: FaultFlag { real.faultFlag }

  func renew() throws(PlatformError) { try real.renew() }

  func extend(to newLength: Int) throws(PlatformError) {
    do throws(PlatformError) {
      try real.extend(to: newLength)
    } catch {
      throw PlatformError("map", path: file.path, code: error.code)
    }
  }

  /// Does nothing: a page of zeros that was never stored to should take no memory.
  func populate(_ range: Range<Int>) {}

  func populateForReading(_ range: Range<Int>) {}

  func detach(_ range: Range<Int>) {}

  func trim() { real.trim() }

  func unmap() {
    real.unmap()
  }
}
