internal import EskerPlatform
internal import Synchronization

/// The lock file of the process that has the store open for writing: it says who that is, whether a sync was in progress or had failed
/// when that process ended, and what readers and the writer tell each other.
///
/// 64 bytes: magic `ESKRLOCK`, process id (u32), zero (u32), syncs in progress (u64), error of a failed sync (u64), a
/// number (u64) that is odd while the manifest is being written, and grows with each write; whether other processes read the store
/// (u64), whether a record is being replaced (u64), and the last write that was published while there were readers (u64).
///
/// The file means nothing after a restart of the machine and needs no sync: the page cache then holds what the disk
/// holds. Within one boot it tells the next opener that the kernel may have marked pages clean that it could not write,
/// so they must not be trusted.
///
/// Safety: threads may share it: `isEnded` is guarded by `lock`, and so are the stores through the mapping, which has all
/// eight words and is aligned to a page; those of the last three words are atomic, and made under the writer's lock. It is unmapped
/// after `isEnded` was set and the writer's lock was held once, so no store can follow.
@safe
final class Session: @unchecked Sendable {
  private let file: any File
  private let mapping: any Mapping
  private let words: UnsafeMutablePointer<Atomic<UInt64>>
  private let lock = Lock(.session)
  /// Guarded by `lock`. Once true, the file may belong to another process.
  private var isEnded = false

  /// Whether the last writer ended during a sync or after a failed one.
  let distrustsCache: Bool
  /// Whether a sync of the last writer failed.
  let knowsOfFailure: Bool

  /// Takes the lock, creating the file if needed.
  ///
  /// - Throws: ``StoreError/locked(path:holder:)``; ``StoreError/failed(operation:path:errno:)``.
  init(directory: String, host: StoreHost) throws(StoreError) {
    let file = try Self.locked(in: directory, host.platform)
    self.file = file
    mapping = try translating { () throws(PlatformError) -> any Mapping in
      try file.reserve(LockFile.length)
      let mapping = try file.map(capacity: 4096, writable: true)
      try mapping.extend(to: LockFile.length)
      return mapping
    }
    unsafe self.words = mapping.base.assumingMemoryBound(to: Atomic<UInt64>.self)
    let words = unsafe mapping.base.assumingMemoryBound(to: UInt64.self)
    let isOurs = unsafe words[0] == LockFile.magic.littleEndian
    distrustsCache = unsafe isOurs && (words[2] != 0 || words[3] != 0)
    knowsOfFailure = unsafe isOurs && words[3] != 0
    unsafe words[0] = LockFile.magic.littleEndian
    // Until it is known that nobody reads the store.
    unsafe words[5] = 1
    unsafe words[6] = 0
    unsafe words[7] = 0
    unsafe words[1] = UInt64(UInt32(bitPattern: host.platform.processID)).littleEndian
  }

  // MARK: Taking the lock

  /// How often another opener may replace the file meanwhile.
  private static let mostTries = 8

  /// The lock file, locked. One that another program has put there is replaced by a new one, and not written to.
  private static func locked(in directory: String, _ platform: Platform) throws(StoreError) -> any File {
    let path = "\(directory)/\(LockFile.name)"
    for _ in 0..<mostTries {
      let file = try translating { () throws(PlatformError) in try opened(path, platform.fileSystem) }
      do throws(StoreError) {
        guard try translating({ () throws(PlatformError) in try lock(file, platform) }) else {
          throw .locked(path: directory, holder: LockFile(file).holder)
        }
        if try translating({ () throws(PlatformError) in try isOurs(file) }) { return file }
        try translating { () throws(PlatformError) in
          // Only whoever has it locked removes the name, and only once: the next one finds that the file has none.
          let names = try file.status().linkCount
          guard names <= 1 else { throw PlatformError("take for a lock", path: path, code: PlatformError.tooManyLinks) }
          if names == 1 { try platform.fileSystem.remove(path) }
        }
      } catch {
        file.close()
        throw error
      }
      file.close()
    }
    throw .failed(operation: "lock", path: path, errno: PlatformError.tryAgain)
  }

  private static func opened(_ path: String, _ fileSystem: any FileSystem) throws(PlatformError) -> any File {
    if try fileSystem.status(path) == nil {
      do throws(PlatformError) { return try fileSystem.open(path, .create) } catch {
        guard error.code == PlatformError.exists else { throw error }
      }
    }
    return try fileSystem.open(path, .readWrite)
  }

  /// Whether the file is a lock file, or one that was just made.
  private static func isOurs(_ file: any File) throws(PlatformError) -> Bool {
    let bytes = try file.bytes(in: 0..<LockFile.length + 1)
    if bytes.count <= LockFile.length, bytes.allSatisfy({ $0 == 0 }) { return true }
    return try LockFile(file).words() != nil
  }

  /// Takes a writer's lock; false if there is a writer. A reader that looks whether there is one holds the lock for a moment.
  private static func lock(_ file: any File, _ platform: Platform) throws(PlatformError) -> Bool {
    for _ in 0..<4 {
      if try file.tryLock(exclusive: true) { return true }
      platform.pause()
    }
    return try file.tryLock(exclusive: true)
  }

  // Syncs continue while a thread waits for one, so these may be called after `end`, and then do nothing.

  func syncBegan() {
    unsafe change { unsafe $0[2] &+= 1 }
  }

  func syncEnded() {
    unsafe change { unsafe $0[2] &-= 1 }
  }

  func syncFailed(_ code: Int32) {
    unsafe change { unsafe $0[3] = UInt64(UInt32(bitPattern: code)) }
  }

  /// Notes that the copies of the manifest are about to be written; see `edits`. The number may already be odd: an
  /// earlier writer was killed during a write, which this one replaces.
  func editBegan() {
    unsafe change { unsafe $0[4] = ($0[4] &+ 1) | 1 }
    atomicMemoryFence(ordering: .sequentiallyConsistent)
  }

  /// Notes that both copies have been written, as far as possible.
  func editEnded() {
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    unsafe change { unsafe $0[4] &+= 1 }
  }

  /// Notes that the contents of the page cache have been rewritten and can be trusted.
  func trustsCacheAgain() {
    unsafe change {
      unsafe $0[2] = 0
      unsafe $0[3] = 0
    }
  }

  // MARK: Readers. Called under the writer's lock, which a close takes before it ends the session.

  /// Whether a record may be replaced; then until ``endReuse()``, readers that come wait.
  ///
  /// Either the reader's look at the second word sees what is stored here, or this sees what the reader has stored before it:
  /// hence one total order.
  @inline(__always)
  func beginReuse() -> Bool {
    unsafe words[6].store(1, ordering: .sequentiallyConsistent)
    if unsafe words[5].load(ordering: .sequentiallyConsistent) == 0 { return true }
    endReuse()
    return false
  }

  /// Whether other processes read the store. Relaxed: who comes at this moment waits for nothing that is not announced.
  @inline(__always)
  var areReaders: Bool { unsafe words[5].load(ordering: .relaxed) != 0 }

  @inline(__always)
  func endReuse() { unsafe words[6].store(0, ordering: .releasing) }

  /// Tells readers, if there are any, that everything up to a number is visible: what they read need not go further.
  @inline(__always)
  func notePublished(_ sequence: UInt64) {
    if areReaders { unsafe words[7].store(sequence.littleEndian, ordering: .releasing) }
  }

  /// Sets whether other processes read the store. What was published is not known again before the next write.
  func set(areReaders: Bool) {
    unsafe words[7].store(0, ordering: .relaxed)
    unsafe words[5].store(areReaders ? 1 : 0, ordering: .sequentiallyConsistent)
  }

  /// Changes the words of the file. The kernel keeps what is stored there, however this process ends.
  private func change(_ body: (UnsafeMutablePointer<UInt64>) -> Void) {
    lock.withLock {
      if !isEnded { unsafe body(mapping.base.assumingMemoryBound(to: UInt64.self)) }
    }
  }

  /// Releases the lock file. Idempotent.
  func end() {
    let isFirst = lock.withLock {
      defer { isEnded = true }
      return !isEnded
    }
    guard isFirst else { return }
    // As the next writer will assume: so readers have nothing to say meanwhile, and leave the file as it is.
    unsafe words[5].store(1, ordering: .sequentiallyConsistent)
    mapping.unmap()
    file.close()
  }
}
