internal import EskerPlatform
internal import Synchronization

/// The lock file: which process has the store open for writing, and whether a sync was in progress or had failed when
/// that process ended.
///
/// 56 bytes: magic `ESKRLOCK`, process id (u32), zero (u32), syncs in progress (u64), error of a failed sync (u64), and a
/// number (u64) that is odd while the manifest is being written, and grows with each write; whether other processes read the store
/// (u64), and whether a record is being replaced (u64).
///
/// The file means nothing after a restart of the machine and needs no sync: the page cache then holds what the disk
/// holds. Within one boot it tells the next opener that the kernel may have marked pages clean that it could not write,
/// so they must not be trusted.
///
/// Safety: threads may share it: `isEnded` is guarded by `lock`, and so are the stores through the mapping, which has all
/// seven words and is aligned to a page. It is unmapped after `isEnded` was set, so no store can follow. Readers of the
/// file's bytes check their count first.
@safe
final class Session: @unchecked Sendable {
  static let fileName = "LOCK"
  private static let magic: UInt64 = 0x4b43_4f4c_524b_5345
  private static let length = 56

  private let file: any File
  private let mapping: any Mapping
  private let lock = Lock(.session)
  /// Guarded by `lock`. Once true, the file may belong to another process.
  private var isEnded = false

  /// Whether the last writer ended during a sync or after a failed one.
  let distrustsCache: Bool
  /// Whether a sync of the last writer failed.
  let knowsOfFailure: Bool

  /// Takes the lock, creating the file if needed.
  init(directory: String, host: Host) throws(StoreError) {
    let path = directory + "/" + Self.fileName
    let fileSystem = host.platform.fileSystem
    var file: (any File)?
    if try translating({ () throws(PlatformError) in try fileSystem.status(path) }) == nil {
      do throws(PlatformError) {
        file = try fileSystem.open(path, .create)
      } catch {
        guard error.code == PlatformError.exists else { throw StoreError(error) }
      }
    }
    let lockFile: any File
    if let file {
      lockFile = file
    } else {
      lockFile = try translating { () throws(PlatformError) in try fileSystem.open(path, .readWrite) }
    }
    guard try translating({ () throws(PlatformError) in try Self.lock(lockFile, host.platform) }) else {
      throw .locked(path: directory, holder: Self.holder(lockFile))
    }
    self.file = lockFile
    mapping = try translating { () throws(PlatformError) -> any Mapping in
      try lockFile.reserve(Self.length)
      let mapping = try lockFile.map(capacity: 4096, writable: true)
      try mapping.extend(to: Self.length)
      return mapping
    }
    let words = unsafe mapping.base.assumingMemoryBound(to: UInt64.self)
    distrustsCache = unsafe words[0] == Self.magic.littleEndian && (words[2] != 0 || words[3] != 0)
    knowsOfFailure = unsafe words[0] == Self.magic.littleEndian && words[3] != 0
    unsafe words[0] = Self.magic.littleEndian
    // Until it is known that nobody reads the store.
    unsafe words[5] = 1
    unsafe words[6] = 0
    unsafe words[1] = UInt64(UInt32(bitPattern: host.platform.processID)).littleEndian
  }

  /// Takes a writer's lock; false if there is a writer. A reader that looks whether there is one holds the lock for a moment.
  private static func lock(_ file: any File, _ platform: Platform) throws(PlatformError) -> Bool {
    for _ in 0..<4 {
      if try file.tryLock(exclusive: true) { return true }
      platform.pause()
    }
    return try file.tryLock(exclusive: true)
  }

  /// The process id in the file; 0 if it cannot be read.
  static func holder(_ file: any File) -> Int32 {
    guard let bytes = try? file.bytes(in: 0..<16), bytes.count == 16 else { return 0 }
    let words = unsafe bytes.withUnsafeBytes { buffer in
      (0..<2).map { unsafe buffer.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self) }
    }
    guard words[0] == magic.littleEndian else { return 0 }
    return Int32(truncatingIfNeeded: UInt64(littleEndian: words[1]))
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

  /// The number that is odd while the manifest is being written; nil if no writer has ever opened the store.
  ///
  /// A sequence lock: a reader that finds it even, and the same before and after reading the copies, has seen no partial
  /// write.
  static func edits(in directory: String, _ fileSystem: any FileSystem) -> UInt64? {
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    defer { atomicMemoryFence(ordering: .sequentiallyConsistent) }
    guard let file = try? fileSystem.open("\(directory)/\(fileName)", .read) else { return nil }
    defer { file.close() }
    guard let bytes = try? file.bytes(in: 0..<length), bytes.count == length else { return nil }
    return unsafe bytes.withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: 32, as: UInt64.self) }
  }

  /// Notes that the contents of the page cache have been rewritten and can be trusted.
  func trustsCacheAgain() {
    unsafe change {
      unsafe $0[2] = 0
      unsafe $0[3] = 0
    }
  }

  // MARK: Readers

  /// Whether a record may be replaced; then until ``endReuse()``, readers that come wait. Called under the writer's lock, which a
  /// close takes before it ends the session.
  ///
  /// Either the reader's look at the second word sees what is stored here, or this sees what the reader has stored before it:
  /// hence one total order.
  @inline(__always)
  func beginReuse() -> Bool {
    unsafe word(6).pointee.store(1, ordering: .sequentiallyConsistent)
    if unsafe word(5).pointee.load(ordering: .sequentiallyConsistent) == 0 { return true }
    endReuse()
    return false
  }

  /// Whether other processes read the store. Relaxed: who comes at this moment waits for nothing that is not announced.
  @inline(__always)
  var areReaders: Bool { unsafe word(5).pointee.load(ordering: .relaxed) != 0 }

  @inline(__always)
  func endReuse() { unsafe word(6).pointee.store(0, ordering: .releasing) }

  /// Sets whether other processes read the store. Called while room is made for a write, and at the end.
  func set(areReaders: Bool) {
    unsafe word(5).pointee.store(areReaders ? 1 : 0, ordering: .sequentiallyConsistent)
  }

  /// What readers and the writer say to each other in a lock file.
  private static func words(in file: any File) throws(PlatformError) -> (areReaders: Bool, isReplacing: Bool)? {
    let bytes = try file.bytes(in: 40..<length)
    guard bytes.count == length - 40 else { return nil }
    return (bytes[0] != 0, bytes[8] != 0)
  }

  /// Says in the lock file of a writer that there is a reader, unless it says so already, and waits until the writer replaces nothing
  /// any more.
  static func announceReader(at path: String, _ platform: Platform) throws(PlatformError) {
    let file = try platform.fileSystem.open(path, .read)
    defer { file.close() }
    guard let words = try words(in: file) else { return }
    if !words.areReaders {
      do throws(PlatformError) { try noteReader(at: path, platform) } catch {
        // Without a writer, there is nobody to be told.
        guard try file.tryLock(exclusive: false) else { throw error }
        return
      }
    }
    var turns = 0
    while try Self.words(in: file)?.isReplacing == true {
      turns += 1
      // The writer may have been killed in the middle of it.
      if turns % 16 == 0, try file.tryLock(exclusive: false) { return }
      platform.pause()
    }
  }

  /// Safety: the mapping has all words, and is unmapped behind the store.
  private static func noteReader(at path: String, _ platform: Platform) throws(PlatformError) {
    let file = try platform.fileSystem.open(path, .readWrite)
    defer { file.close() }
    let mapping = try file.map(capacity: 4096, writable: true)
    defer { mapping.unmap() }
    try mapping.extend(to: length)
    let words = unsafe mapping.base.assumingMemoryBound(to: Atomic<UInt64>.self)
    unsafe words[5].store(1, ordering: .sequentiallyConsistent)
    // Before the look at the other word, which is a call.
    atomicMemoryFence(ordering: .sequentiallyConsistent)
  }

  private func word(_ index: Int) -> UnsafeMutablePointer<Atomic<UInt64>> {
    unsafe (mapping.base + 8 * index).assumingMemoryBound(to: Atomic<UInt64>.self)
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
    set(areReaders: true)
    mapping.unmap()
    file.close()
  }
}
