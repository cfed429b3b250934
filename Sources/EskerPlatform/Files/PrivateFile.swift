import CEskerShims

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A small file that is for its owner alone, such as one of keys.
public enum PrivateFile {
  /// Why a file was not read.
  public enum Refusal: Error, Hashable, Sendable {
    /// The system refused.
    case system(PlatformError)
    /// The path names something else than a file.
    case notAFile
    /// Others than the owner may read or write it, or run it: its permissions.
    case shared(mode: UInt32)
    /// It belongs to another user than this process runs as, and not to root.
    case foreign(owner: UInt32)
    /// It has more bytes than were asked for.
    case tooLong(Int)
  }

  /// The bytes of a file that nobody but its owner may use. What is refused is not read. Symbolic links are followed: it counts what they
  /// lead to.
  public static func read(_ path: String, atMost limit: Int) throws(Refusal) -> [UInt8] {
    let file: OSFile
    let status: stat
    do throws(PlatformError) {
      LockRank.expectIOAllowed()
      // Not blocking: the path may name a pipe.
      let descriptor = try OSFileSystem.openDescriptor(path, O_RDONLY | O_NONBLOCK)
      file = OSFile(path: path, descriptor: descriptor, isWritable: false)
      status = try FileIdentity.status(of: descriptor, "get the status of", path)
    } catch {
      throw .system(error)
    }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile }
    let mode = UInt32(status.st_mode) & 0o7777
    guard mode & 0o077 == 0 else { throw .shared(mode: mode) }
    guard status.st_uid == geteuid() || status.st_uid == 0 else { throw .foreign(owner: UInt32(status.st_uid)) }
    guard Int(status.st_size) <= limit else { throw .tooLong(Int(status.st_size)) }
    do {
      // One more: it may have grown.
      // Safety: the buffer has room for what is asked for, and what was read is counted.
      let bytes = try unsafe [UInt8](unsafeUninitializedCapacity: limit + 1) { buffer, count in
        count = unsafe try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
      }
      guard bytes.count <= limit else { throw Refusal.tooLong(bytes.count) }
      return bytes
    } catch let error as PlatformError {
      throw .system(error)
    } catch let refusal as Refusal {
      throw refusal
    } catch {
      throw .notAFile
    }
  }

  /// Puts a file in the place of what has that name, for its owner alone whatever the umask and the directory say: durably, and whole or
  /// not at all.
  public static func write(_ bytes: [UInt8], to path: String) throws(PlatformError) {
    let files = OSFileSystem()
    let path = try files.absolute(path)
    let fresh = path + ".new"
    // What an interrupted call left.
    if try files.status(fresh) != nil { try files.remove(fresh) }
    let descriptor = try OSFileSystem.openDescriptor(fresh, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW)
    let file = OSFile(path: fresh, descriptor: descriptor, isWritable: true)
    do throws(PlatformError) {
      // Safety: the bytes are kept during the call.
      try unsafe bytes.withUnsafeBufferPointer { (buffer) throws(PlatformError) in
        try unsafe file.write(UnsafeRawBufferPointer(buffer), at: 0)
      }
      try file.sync()
      file.close()
      try files.rename(fresh, to: path)
    } catch {
      file.close()
      try? files.remove(fresh)
      throw error
    }
    try files.syncDirectory(path.lastIndex(of: "/").map { String(path[...$0]) } ?? ".")
  }
}
