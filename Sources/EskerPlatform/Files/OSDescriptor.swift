import CEskerShims
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The descriptor of an open file: closed once it is no longer in use, and given up and taken back while the file rests.
///
/// A resting file gives its descriptor up after a call if descriptors are scarce, and opens a new one for the next call. A
/// file that does not rest pays nothing for this.
struct OSDescriptor: ~Copyable, Sendable {
  let path: String
  let isWritable: Bool

  /// The number; -1 while there is none.
  ///
  /// Relaxed: nothing is read through it. `users` and `isResting` ensure that it is the right one: it only changes under the
  /// lock of `identity`, and until the file rests it keeps the value that `init` was given until the final close.
  private let number: Atomic<Int32>

  /// How many calls are using the descriptor, plus `closed` once `close()` was called.
  ///
  /// The last call to leave closes it, so a call in flight never meets a number that has been reused for another file. A
  /// resting file loses its descriptor only while this is 0. Hence `rest` sets `isResting` before it looks here, and a call
  /// counts itself here before it looks at `isResting`: at least one of them sees the other.
  private let users = Atomic<Int>(0)
  private static let closed = Int.min

  private let isResting = Atomic<Bool>(false)
  /// Relaxed: the descriptor is given up after the last call that used it, which `users` orders.
  private let isLocked = Atomic<Bool>(false)

  /// Which file it is, once it rests. Locked while the descriptor is given up or taken back.
  private let identity = Guarded<FileIdentity?>(nil, .descriptor)

  init(path: String, number: Int32, isWritable: Bool) {
    self.path = path
    self.number = Atomic(number)
    self.isWritable = isWritable
  }

  /// Closes the descriptor, now or when the last call that uses it ends.
  func close() {
    LockRank.expectIOAllowed()
    let before = users.bitwiseOr(Self.closed, ordering: .sequentiallyConsistent).oldValue
    if before == 0 { identity.withLock { _ in giveUp() } }
  }

  /// Lets the file rest; does nothing if the file's identity cannot be determined.
  func rest() {
    guard let descriptor = try? enter("rest") else { return }
    let file = try? FileIdentity(of: descriptor, path)
    identity.withLock { identity in
      guard identity == nil, let file else { return }
      identity = file
      isResting.store(true, ordering: .sequentiallyConsistent)
    }
    leave()
  }

  /// Notes that the descriptor must be unlocked before it is closed: a child process forked meanwhile holds it until its
  /// `exec`, and with it the lock.
  func noteLock() { isLocked.store(true, ordering: .relaxed) }

  /// Begins a use of the descriptor, which `leave` ends.
  func enter(_ operation: String) throws(PlatformError) -> Int32 {
    try count(operation)
    guard isResting.load(ordering: .sequentiallyConsistent) else { return number.load(ordering: .relaxed) }
    do throws(PlatformError) {
      return try identity.withLock { (identity) throws(PlatformError) in
        let descriptor = number.load(ordering: .relaxed)
        return descriptor >= 0 ? descriptor : try takeBack(identity)
      }
    } catch {
      leave()
      throw error
    }
  }

  func leave() {
    let left = users.subtract(1, ordering: .sequentiallyConsistent).newValue
    guard left == Self.closed || left == 0 && isResting.load(ordering: .sequentiallyConsistent) else { return }
    identity.withLock { _ in
      let isScarce = DescriptorLimit.isScarce(number.load(ordering: .relaxed))
      if left == Self.closed || isScarce && users.load(ordering: .sequentiallyConsistent) == 0 { giveUp() }
    }
  }

  /// The file's status. Needs no descriptor while a resting file has a name.
  func status(_ operation: String) throws(PlatformError) -> FileStatus {
    try count(operation)
    defer { leave() }
    // No other thread gives up an open descriptor before `leave`.
    let isResting = isResting.load(ordering: .sequentiallyConsistent)
    let (descriptor, file) =
      isResting
      ? identity.withLock { (number.load(ordering: .relaxed), $0) } : (number.load(ordering: .relaxed), nil)
    if descriptor >= 0 { return FileStatus(try FileIdentity.status(of: descriptor, operation, path)) }
    // Safety: Swift ends the path with a zero and keeps it during the call, which fills a local.
    var result = stat()
    while unsafe stat(path, &result) != 0 {
      if errno != EINTR { throw PlatformError(operation, path: path, code: errno) }
    }
    guard FileIdentity(result) == file else { throw PlatformError(operation, path: path, code: ESTALE) }
    return FileStatus(result)
  }

  private func count(_ operation: String) throws(PlatformError) {
    LockRank.expectIOAllowed()
    // Relaxed: only a guess, which the exchange confirms.
    var count = users.load(ordering: .relaxed)
    while true {
      if count < 0 { throw PlatformError(operation, path: path, code: EBADF) }
      let (exchanged, original) = users.weakCompareExchange(
        expected: count,
        desired: count + 1,
        ordering: .sequentiallyConsistent
      )
      if exchanged { return }
      count = original
    }
  }

  /// Opens the file again, if its path still names it.
  private func takeBack(_ identity: FileIdentity?) throws(PlatformError) -> Int32 {
    let descriptor = try OSFileSystem.openDescriptor(path, isWritable ? O_RDWR : O_RDONLY)
    do throws(PlatformError) {
      guard try FileIdentity(of: descriptor, path) == identity else {
        throw PlatformError("open", path: path, code: ESTALE)
      }
    } catch {
      closeDescriptor(descriptor)
      throw error
    }
    number.store(descriptor, ordering: .relaxed)
    return descriptor
  }

  /// Closes the descriptor, if any. The caller holds `identity`.
  private func giveUp() {
    let descriptor = number.exchange(-1, ordering: .relaxed)
    guard descriptor >= 0 else { return }
    if isLocked.load(ordering: .relaxed) { esker_unlock(descriptor) }
    closeDescriptor(descriptor)
  }
}

/// Distinguishes a file from all others for as long as anybody has it open or mapped.
struct FileIdentity: Equatable {
  private let device: dev_t
  private let number: ino_t

  init(_ status: stat) {
    device = status.st_dev
    number = status.st_ino
  }

  init(of descriptor: Int32, _ path: String) throws(PlatformError) {
    self.init(try Self.status(of: descriptor, "open", path))
  }

  /// Calls `fstat(2)`.
  static func status(of descriptor: Int32, _ operation: String, _ path: String) throws(PlatformError) -> stat {
    // Safety: the call fills a local.
    var result = stat()
    while unsafe fstat(descriptor, &result) != 0 {
      if errno != EINTR { throw PlatformError(operation, path: path, code: errno) }
    }
    return result
  }
}
