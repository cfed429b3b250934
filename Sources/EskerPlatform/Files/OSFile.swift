import CEskerShims
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// An open file of the operating system.
final class OSFile: File {
  let path: String
  private let handle: OSDescriptor

  /// Held while `reserve` or `truncate` changes the length, and while a mapping is checked against it: a failed reservation
  /// is undone, and what is cut off again must not have been mapped.
  private let lengthLock = Lock(.fileLength)

  private let mappings = Guarded(SyncedMappings(), .fileMappings)

  init(path: String, descriptor: Int32, isWritable: Bool) {
    self.path = path
    handle = OSDescriptor(path: path, number: descriptor, isWritable: isWritable)
  }

  deinit {
    close()
  }

  func close() { handle.close() }

  func rest() { handle.rest() }

  func status() throws(PlatformError) -> FileStatus { try handle.status("get the status of") }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(PlatformError) -> Int {
    let descriptor = try handle.enter("read")
    defer { handle.leave() }
    guard let base = buffer.baseAddress else { return 0 }
    // Safety: the loop only asks for `done..<done + wanted`, which lies within the `buffer.count` bytes of the caller's
    // buffer.
    let moved = TransferLoop.run(count: buffer.count) { done, wanted in
      let count = unsafe pread(descriptor, base + done, wanted, off_t(offset + done))
      return count >= 0 ? count : -Int(errno)
    }
    if moved < 0 { throw PlatformError("read", path: path, code: Int32(-moved)) }
    return moved
  }

  #if !canImport(Darwin)
    func beginWriteBack(_ range: Range<Int>) {
      guard !range.isEmpty, let descriptor = try? handle.enter("write back") else { return }
      defer { handle.leave() }
      esker_begin_write_back(descriptor, Int64(range.lowerBound), Int64(range.count))
    }

    func letGo(_ range: Range<Int>) {
      guard !range.isEmpty, let descriptor = try? handle.enter("let go of") else { return }
      defer { handle.leave() }
      esker_forget(descriptor, Int64(range.lowerBound), Int64(range.count))
    }

    // On Linux only: elsewhere stores through a mapping are not guaranteed to count at once.
    func nextData(from offset: Int) -> Int? {
      guard let descriptor = try? handle.enter("seek") else { return offset }
      defer { handle.leave() }
      let start = esker_next_data(descriptor, Int64(offset), nil)
      return start < 0 ? nil : Int(start)
    }
  #endif

  func write(_ buffer: UnsafeRawBufferPointer, at offset: Int) throws(PlatformError) {
    let descriptor = try handle.enter("write")
    defer { handle.leave() }
    guard let base = buffer.baseAddress else { return }
    // Safety: the loop only asks for `done..<done + wanted`, which lies within the `buffer.count` bytes of the caller's
    // buffer.
    let moved = TransferLoop.run(count: buffer.count) { done, wanted in
      let count = unsafe pwrite(descriptor, base + done, wanted, off_t(offset + done))
      // A file that accepts no more bytes without giving a reason is full.
      return count > 0 ? count : count == 0 ? -Int(ENOSPC) : -Int(errno)
    }
    if moved < 0 { throw PlatformError("write", path: path, code: Int32(-moved)) }
  }

  func reserve(_ length: Int) throws(PlatformError) {
    let descriptor = try handle.enter("reserve space for")
    defer { handle.leave() }
    guard length > 0 else { return }
    lengthLock.lock()
    defer { lengthLock.unlock() }
    let size = try currentStatus(descriptor, "reserve").size
    var code = esker_preallocate(descriptor, Int64(size), Int64(length))
    if code == EOPNOTSUPP { code = writeZeros(descriptor, from: size, to: length) }
    guard code != 0 else { return }
    // The file system may have grown the file as far as its space allowed.
    if let now = try? currentStatus(descriptor, "reserve").size, now > size { _ = setLength(descriptor, size) }
    throw PlatformError("reserve space for", path: path, code: code)
  }

  func truncate(_ length: Int) throws(PlatformError) {
    let descriptor = try handle.enter("truncate")
    defer { handle.leave() }
    lengthLock.lock()
    defer { lengthLock.unlock() }
    let code = setLength(descriptor, length)
    if code != 0 { throw PlatformError("truncate", path: path, code: code) }
  }

  func sync() throws(PlatformError) {
    let descriptor = try handle.enter("sync")
    defer { handle.leave() }
    var code = writeBackMappings()
    if code == 0 { code = esker_sync_file(descriptor) }
    if code != 0 { throw .sync(path: path, code: code) }
  }

  func map(capacity: Int, writable: Bool) throws(PlatformError) -> any Mapping {
    _ = try handle.enter("map")
    defer { handle.leave() }
    if writable && !handle.isWritable { throw PlatformError("map", path: path, code: EACCES) }
    let mapping = try OSMapping(path: path, capacity: capacity, writable: writable, origin: .shared(self))
    if writable { mappings.withLock { $0.add(mapping) } }
    return mapping
  }

  func mapPrivate(_ range: Range<Int>) throws(PlatformError) -> any Mapping {
    _ = try handle.enter("map")
    defer { handle.leave() }
    guard range.lowerBound >= 0, range.lowerBound % 4096 == 0 else {
      throw PlatformError("map", path: path, code: EINVAL)
    }
    // The page may be larger than the alignment the caller was promised.
    let skipped = range.lowerBound % MemoryPage.size
    let mapping = try OSMapping(
      path: path,
      capacity: range.count + skipped,
      writable: true,
      origin: .copyOnWrite(skipping: skipped)
    )
    if range.isEmpty { return mapping }
    try withStableLength(atLeast: range.upperBound) { descriptor throws(PlatformError) in
      try mapping.attach(range.count, to: descriptor, at: range.lowerBound - skipped)
    }
    return mapping
  }

  func tryLock(exclusive: Bool) throws(PlatformError) -> Bool {
    let descriptor = try handle.enter("lock")
    defer { handle.leave() }
    switch esker_try_lock(descriptor, exclusive) {
    case 0:
      handle.noteLock()
      return true
    case EWOULDBLOCK: return false
    case let code: throw PlatformError("lock", path: path, code: code)
    }
  }

  // MARK: For mappings

  /// Runs `body` with the descriptor if the file is at least `length` long; the file cannot shrink through this object
  /// meanwhile.
  func withStableLength(
    atLeast length: Int,
    _ body: (Int32) throws(PlatformError) -> Void
  ) throws(PlatformError) {
    let descriptor = try handle.enter("map")
    defer { handle.leave() }
    lengthLock.lock()
    defer { lengthLock.unlock() }
    guard length <= (try currentStatus(descriptor, "map").size) else {
      throw PlatformError("map", path: path, code: EINVAL)
    }
    try body(descriptor)
  }

  /// Removes a writable mapping that is being unmapped, and notes the error with which its last stores failed to be written,
  /// if any.
  func forget(_ mapping: OSMapping, writeError: Int32) {
    mappings.withLock { $0.remove(ObjectIdentifier(mapping), writeError: writeError) }
  }

  /// The error behind a write fault that the kernel gives no reason for.
  func reasonForFault(below length: Int) -> Int32 {
    guard let size = try? status().size, size >= length else { return EIO }
    guard let free = try? OSFileSystem().freeSpace(at: path), free < MemoryPage.size else { return EIO }
    return ENOSPC
  }

  private func currentStatus(_ descriptor: Int32, _ operation: String) throws(PlatformError) -> FileStatus {
    FileStatus(try FileIdentity.status(of: descriptor, operation, path))
  }

  private func writeBackMappings() -> Int32 {
    var code: Int32 = 0
    while true {
      // Outside the lock: releasing the last reference to a mapping takes that lock.
      let (written, pendingError, isLeaving) = mappings.withLock { $0.takeForSync() }
      if code == 0 { code = pendingError }
      for mapping in written {
        let result = mapping.writeBack()
        if code == 0 { code = result }
      }
      // A mapping that is being released writes its own pages, which belong to this sync.
      if !isLeaving { return code }
      sched_yield()
    }
  }

  private func setLength(_ descriptor: Int32, _ length: Int) -> Int32 {
    while ftruncate(descriptor, off_t(length)) != 0 {
      if errno != EINTR { return errno }
    }
    return 0
  }

  /// Reserves space by writing zeros.
  ///
  /// In small pieces: after large writes the page cache holds large folios, and every later sync of one byte would write a
  /// whole folio.
  private func writeZeros(_ descriptor: Int32, from start: Int, to end: Int) -> Int32 {
    // Safety: the array outlives the closure, and no call gets more than its length.
    let piece = [UInt8](repeating: 0, count: 16 << 10)
    return unsafe piece.withUnsafeBytes { zeros in
      guard let base = zeros.baseAddress, start < end else { return 0 }
      let moved = TransferLoop.run(count: end - start) { done, wanted in
        let count = unsafe pwrite(descriptor, base, min(wanted, zeros.count), off_t(start + done))
        return count > 0 ? count : count == 0 ? -Int(ENOSPC) : -Int(errno)
      }
      return moved < 0 ? Int32(-moved) : 0
    }
  }
}
