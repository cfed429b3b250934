internal import EskerPlatform
internal import Synchronization

/// The file `LOCK`, as processes that do not hold it read it; ``Session`` is for the one that does. <doc:Format> describes its words.
struct LockFile {
  static let name = "LOCK"
  static let length = 256
  /// Bytes that a store of before has there.
  static let leastLength = 64
  static let magic: UInt64 = 0x4b43_4f4c_524b_5345

  /// How long a reader waits for a writer to end the replacement of a record, in nanoseconds. A writer that takes longer was stopped,
  /// and the reader goes on: see ``announceReader(_:)``.
  static let patience: UInt64 = 100_000_000
  /// How long a writer replaces records after it has looked for the locks of readers, in nanoseconds. A writer that finds a reader
  /// announced in the file stops at once.
  static let lookInterval: UInt64 = 100_000_000
  /// How long a reader waits that cannot announce itself to the writer: until the writer must have looked, or replaces nothing. Longer by
  /// what the coarse clock is behind, and whatever else may be.
  static let lookWait: UInt64 = 250_000_000

  private let file: any File

  init(_ file: any File) { self.file = file }

  /// - Throws: `notFound` if there is none, because no process has ever written to the store.
  init(in directory: String, _ fileSystem: any FileSystem) throws(PlatformError) {
    file = try fileSystem.open("\(directory)/\(Self.name)", .read)
  }

  func close() { file.close() }

  /// What the file says.
  struct Words {
    /// The process that has, or last had, the lock.
    var holder: Int32
    var edits: UInt64
    var areReaders: Bool
    var isReplacing: Bool
    /// The last write that was visible, as long as there are readers; 0 if that is not known.
    var published: UInt64
    /// How often a process has got the lock.
    var turn: UInt64
    /// Whether the process that has it hands it over to others.
    var isShared: Bool
  }

  /// What the file says; nil if it is none of Esker's, or no process has begun to write to the store.
  func words() throws(PlatformError) -> Words? {
    var bytes = try file.bytes(in: 0..<Self.length)
    guard bytes.count >= Self.leastLength else { return nil }
    bytes += repeatElement(0, count: Self.length - bytes.count)
    // Safety: there are as many bytes.
    return unsafe bytes.withUnsafeBytes { bytes in
      let word = { unsafe UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8 * $0, as: UInt64.self)) }
      guard word(0) == Self.magic else { return nil }
      return Words(
        holder: Int32(truncatingIfNeeded: word(1)),
        edits: word(4),
        areReaders: word(5) != 0,
        isReplacing: word(6) != 0,
        published: word(7),
        turn: word(8),
        isShared: word(26) != 0
      )
    }
  }

  /// Whether a process holds the lock. Looks through another descriptor: its close lets go of what it got.
  private static func isHeld(_ path: String, _ fileSystem: any FileSystem) throws(PlatformError) -> Bool {
    let file = try fileSystem.open(path, .read)
    defer { file.close() }
    return try !file.tryLock(exclusive: false)
  }

  /// Whether a process has the store open for writing; nil if that cannot be told.
  static func isHeld(in directory: String, _ fileSystem: any FileSystem) -> Bool? {
    do throws(PlatformError) { return try isHeld("\(directory)/\(name)", fileSystem) } catch {
      return error.code == PlatformError.notFound ? false : nil
    }
  }

  /// Whether a process holds the lock; nil if that cannot be told.
  func isHeld(_ fileSystem: any FileSystem) -> Bool? { try? Self.isHeld(file.path, fileSystem) }

  /// The process that holds the lock; 0 if that cannot be read.
  var holder: Int32 { ((try? words()) ?? nil)?.holder ?? 0 }

  // MARK: Readers

  /// Tells the writer that there is a reader, which already holds its locks on the manifest. From then on no record is replaced, except
  /// one whose replacement has begun.
  ///
  /// Waits for the end of that, but not for ever: the writer may be stopped in the middle of it. What it replaces is a dead record,
  /// which reads as that, as room between two records, or as the new one. ``Follower`` looks there for the new one.
  ///
  /// - Returns: whether a record was still being replaced.
  func announceReader(_ platform: Platform) throws(PlatformError) -> Bool {
    guard let words = try words() else { return false }
    if !words.areReaders {
      do throws(PlatformError) { try noteReader(platform) } catch {
        // A reader that may not write to the file is noticed by its locks, once the writer looks. Without a writer, there is none to
        // notify.
        guard try Self.isHeld(file.path, platform.fileSystem) else { return false }
        try wait(Self.lookWait, platform) { !$0.areReaders }
      }
    }
    try wait(Self.patience, platform) { $0.isReplacing }
    return try self.words()?.isReplacing == true
  }

  /// Waits while what the file says is so, a writer has the lock, and the time has not passed.
  private func wait(_ limit: UInt64, _ platform: Platform, while isSo: (Words) -> Bool) throws(PlatformError) {
    let start = platform.clock.monotonicNanoseconds()
    while let words = try words(), isSo(words) {
      let waited = platform.clock.monotonicNanoseconds() &- start
      guard waited < limit, try Self.isHeld(file.path, platform.fileSystem) else { return }
      platform.pause()
    }
  }

  /// Safety: the mapping has all words, and is unmapped behind the store.
  private func noteReader(_ platform: Platform) throws(PlatformError) {
    let file = try platform.fileSystem.open(file.path, .readWrite)
    defer { file.close() }
    let mapping = try file.map(capacity: 4096, writable: true)
    defer { mapping.unmap() }
    try mapping.extend(to: Self.leastLength)
    let words = unsafe mapping.base.assumingMemoryBound(to: Atomic<UInt64>.self)
    unsafe words[5].store(1, ordering: .sequentiallyConsistent)
    // Before the look at the other word, which is a call.
    atomicMemoryFence(ordering: .sequentiallyConsistent)
  }

  // MARK: The manifest

  /// The number that is odd while the manifest is being written; nil if no writer has ever opened the store.
  ///
  /// A sequence lock: a reader that finds it even, and the same before and after reading the copies, has seen no partial
  /// write.
  static func edits(in directory: String, _ fileSystem: any FileSystem) -> UInt64? {
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    defer { atomicMemoryFence(ordering: .sequentiallyConsistent) }
    guard let lock = try? LockFile(in: directory, fileSystem) else { return nil }
    defer { lock.close() }
    return ((try? lock.words()) ?? nil)?.edits
  }
}
