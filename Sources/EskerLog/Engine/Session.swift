internal import EskerPlatform
internal import Synchronization

/// The lock file: who has the store open for writing, and whether a sync was under way or failed when that ended.
///
/// 32 bytes: magic `ESKRLOCK`, process id (u32), zero (u32), syncs under way (u64), error of a failed sync (u64). The file
/// says nothing across a restart of the machine and needs no sync: after a restart the page cache holds what the disk
/// holds. Within one boot it tells the next opener that the kernel may have marked pages clean which it could not write,
/// so that it must not trust them.
@safe
final class Session: @unchecked Sendable {
  static let fileName = "LOCK"
  private static let magic: UInt64 = 0x4b43_4f4c_524b_5345
  private static let length = 32

  private let file: any File
  private let mapping: any Mapping
  private let lock = Lock()
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
    lock.withLock {
      guard !isEnded else { return }
      isEnded = true
      mapping.unmap()
      file.close()
    }
  }
}
