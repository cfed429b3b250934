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

  private func word(_ index: Int) -> UnsafeMutablePointer<Atomic<UInt64>> {
    unsafe mapping.base.assumingMemoryBound(to: Atomic<UInt64>.self) + index
  }

  func syncBegan() {
    unsafe word(2).pointee.wrappingAdd(1, ordering: .sequentiallyConsistent)
  }

  func syncEnded() {
    unsafe word(2).pointee.wrappingSubtract(1, ordering: .sequentiallyConsistent)
  }

  func syncFailed(_ code: Int32) {
    unsafe word(3).pointee.store(UInt64(UInt32(bitPattern: code)), ordering: .sequentiallyConsistent)
  }

  /// Says that what the page cache holds has been written anew.
  func trustsCacheAgain() {
    unsafe word(2).pointee.store(0, ordering: .sequentiallyConsistent)
    unsafe word(3).pointee.store(0, ordering: .sequentiallyConsistent)
  }

  func end() {
    mapping.unmap()
    file.close()
  }
}
