internal import EskerPlatform
internal import Synchronization

/// The lock file: who has the store open for writing, and whether a sync was under way or failed when that ended.
///
/// 40 bytes: magic `ESKRLOCK`, process id (u32), zero (u32), syncs under way (u64), error of a failed sync (u64), and a number
/// (u64) that is odd from the beginning of a write of the manifest to its end, and higher with each.
///
/// The file says nothing across a restart of the machine and needs no sync: after a restart the page cache holds what the disk
/// holds. Within one boot it tells the next opener that the kernel may have marked pages clean which it could not write, so that
/// it must not trust them.
///
/// Safety: threads may share it: `isEnded` is guarded by `lock`, and so are the stores through the mapping, which has all
/// five words and is aligned to a page. It is unmapped after `isEnded` was set, so nobody stores there any more. Whoever
/// reads the file's bytes checks their count first.
@safe
final class Session: @unchecked Sendable {
  static let fileName = "LOCK"
  private static let magic: UInt64 = 0x4b43_4f4c_524b_5345
  private static let length = 40

  private let file: any File
  private let mapping: any Mapping
  private let lock = Lock(.session)
  /// Guarded by `lock`. From then on the file may be another process's.
  private var isEnded = false

  /// True if the last writer ended during a sync or after a failed one.
  let distrustsCache: Bool
  /// True if a sync of the last writer failed.
  let knowsOfFailure: Bool

  /// Takes the lock, creating the file if need be.
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
    guard try translating({ () throws(PlatformError) in try lockFile.tryLock(exclusive: true) }) else {
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
    unsafe words[1] = UInt64(UInt32(bitPattern: host.platform.processID)).littleEndian
  }

  static func holder(_ file: any File) -> Int32 {
    guard let bytes = try? file.bytes(in: 0..<16), bytes.count == 16 else { return 0 }
    let words = unsafe bytes.withUnsafeBytes { buffer in
      (0..<2).map { unsafe buffer.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self) }
    }
    guard words[0] == magic.littleEndian else { return 0 }
    return Int32(truncatingIfNeeded: UInt64(littleEndian: words[1]))
  }

  // Syncs go on as long as somebody waits for one, so these may come after the end. Then they do nothing.

  func syncBegan() {
    unsafe change { unsafe $0[2] &+= 1 }
  }

  func syncEnded() {
    unsafe change { unsafe $0[2] &-= 1 }
  }

  func syncFailed(_ code: Int32) {
    unsafe change { unsafe $0[3] = UInt64(UInt32(bitPattern: code)) }
  }

  /// Says that the copies of the manifest are about to be written; see `edits`. The number may be odd: somebody was killed
  /// meanwhile, and this write is the one that replaces what was left.
  func editBegan() {
    unsafe change { unsafe $0[4] = ($0[4] &+ 1) | 1 }
    atomicMemoryFence(ordering: .sequentiallyConsistent)
  }

  /// Says that both copies have been written, or as much of them as can be.
  func editEnded() {
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    unsafe change { unsafe $0[4] &+= 1 }
  }

  /// The number that is odd while the manifest is written; nil when no process was ever there to write it.
  ///
  /// Who finds it even and the same before and after a look at the copies has seen no half of a write (a sequence lock).
  static func edits(in directory: String, _ fileSystem: any FileSystem) -> UInt64? {
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    defer { atomicMemoryFence(ordering: .sequentiallyConsistent) }
    guard let file = try? fileSystem.open("\(directory)/\(fileName)", .read) else { return nil }
    defer { file.close() }
    guard let bytes = try? file.bytes(in: 0..<length), bytes.count == length else { return nil }
    return unsafe bytes.withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: 32, as: UInt64.self) }
  }

  /// Says that what the page cache holds has been written anew.
  func trustsCacheAgain() {
    unsafe change {
      unsafe $0[2] = 0
      unsafe $0[3] = 0
    }
  }

  /// The words of the file: the kernel keeps what is stored there, however this process ends.
  private func change(_ body: (UnsafeMutablePointer<UInt64>) -> Void) {
    lock.withLock {
      if !isEnded { unsafe body(mapping.base.assumingMemoryBound(to: UInt64.self)) }
    }
  }

  /// Gives the lock file back. Idempotent.
  func end() {
    let isFirst = lock.withLock {
      defer { isEnded = true }
      return !isEnded
    }
    guard isFirst else { return }
    // Nobody stores there any more.
    mapping.unmap()
    file.close()
  }
}
