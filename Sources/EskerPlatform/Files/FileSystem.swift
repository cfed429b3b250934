/// The one seam between Esker and the operating system's files.
///
/// The engine touches the disk in no other way, so a test can replace it: drop what was not synced, tear a page, fill the
/// volume or fail the n-th call. A relative path counts from the working directory at the time of the call, so whatever keeps
/// a path makes it absolute first; see ``absolute(_:)``. Every function is safe to call from any thread.
public protocol FileSystem: Sendable {
  /// The absolute path of the process's working directory.
  func workingDirectory() throws(PlatformError) -> String

  /// Opens a file. `.create` makes a new one and fails with `EEXIST` if the name is taken. Fails with `ELOOP` if the name is that of
  /// a symbolic link. Those may read and write a new file who may do so with the names in its directory, and its owner.
  func open(_ path: String, _ mode: OpenMode) throws(PlatformError) -> any File

  /// The status of the file at `path`, following links; nil if there is none.
  func status(_ path: String) throws(PlatformError) -> FileStatus?

  /// The names in a directory, without `.` and `..`, in no particular order.
  func list(_ directory: String) throws(PlatformError) -> [String]

  /// Creates one directory, for this user only; its parent must exist.
  func createDirectory(_ path: String) throws(PlatformError)

  /// Removes a file's name. Durable once the directory is synced.
  func remove(_ path: String) throws(PlatformError)

  /// Removes a directory that is empty. Durable once its parent is synced.
  func removeDirectory(_ path: String) throws(PlatformError)

  /// Renames `path` to `newPath`, atomically replacing what was there. Durable once the directory is synced; does not sync
  /// the data.
  func rename(_ path: String, to newPath: String) throws(PlatformError)

  /// Gives a file a second name.
  func link(_ path: String, to newPath: String) throws(PlatformError)

  /// Makes every earlier change to the names in `directory` durable.
  func syncDirectory(_ directory: String) throws(PlatformError)

  /// The number of bytes that an unprivileged process can still allocate on the volume holding `path`.
  func freeSpace(at path: String) throws(PlatformError) -> Int

  /// Sets attributes of a file or a directory; does nothing where a system or a volume has no such attributes.
  func set(_ attributes: FileAttributes, of path: String) throws(PlatformError)
}

extension FileSystem {
  /// Does nothing: there are no such attributes.
  public func set(_ attributes: FileAttributes, of path: String) throws(PlatformError) {}

  /// A path that goes on naming what `path` names now, wherever the process goes.
  ///
  /// Puts the working directory before a relative path, and changes nothing else: `..` behind a symbolic link is the parent of
  /// where the link leads, which only the system knows. An empty path names nothing, and stays empty.
  public func absolute(_ path: String) throws(PlatformError) -> String {
    if path.isEmpty || path.hasPrefix("/") { return path }
    let directory: String
    do throws(PlatformError) { directory = try workingDirectory() } catch {
      throw PlatformError("find the working directory for", path: path, code: error.code)
    }
    return directory.hasSuffix("/") ? directory + path : "\(directory)/\(path)"
  }
}

/// How a file is opened.
public enum OpenMode: Sendable {
  case read
  case readWrite
  /// A new file, open for reading and writing.
  case create
}

/// What a path names.
public struct FileStatus: Sendable, Equatable {
  /// The kinds that Esker distinguishes.
  public enum Kind: Sendable { case file, directory, other }
  /// A file, a directory or anything else.
  public var kind: Kind
  /// The length in bytes.
  public var size: Int
  /// The file's number of names.
  public var linkCount: Int

  /// Creates a status from its parts.
  public init(kind: Kind, size: Int, linkCount: Int) {
    self.kind = kind
    self.size = size
    self.linkCount = linkCount
  }
}

/// One open file.
///
/// Reads and writes take an offset, so the object has no position and may be used from several threads at once. `close()`
/// closes the file, and so does releasing the last reference.
public protocol File: AnyObject, Sendable {
  var path: String { get }

  /// The file's length, and how many names it still has (0 if it was removed while open). For a resting file that was
  /// removed, this may throw an error with `isGone` set.
  func status() throws(PlatformError) -> FileStatus

  /// Fills `buffer` starting at `offset`; returns fewer bytes than requested only at the end of the file.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(PlatformError) -> Int

  /// The offset of the first byte at or after `offset` that may be nonzero; nil if there are only zeros up to the end.
  ///
  /// Skips long unwritten runs without reading them into memory. `offset` itself is always a correct answer, if a useless
  /// one. Stores made through mappings count, in all processes.
  func nextData(from offset: Int) -> Int?

  /// Writes all of `buffer` at `offset`, growing the file as needed.
  func write(_ buffer: UnsafeRawBufferPointer, at offset: Int) throws(PlatformError)

  /// Allocates storage so that writes to `0..<length` cannot run out of space; new bytes read as zero, and the file is at
  /// least `length` long afterwards. Fails with `ENOSPC`, leaving the file as it was.
  func reserve(_ length: Int) throws(PlatformError)

  /// Cuts the file to `length`. The range cut off must not be mapped.
  func truncate(_ length: Int) throws(PlatformError)

  /// Makes the file's contents, its length and every store made through its mappings durable (`fdatasync`; on Apple
  /// platforms `msync` and `F_FULLFSYNC`). After a failure, nothing may be assumed durable, even if a retry succeeds.
  func sync() throws(PlatformError)

  /// Starts writing the cached bytes of `range` to the device, without waiting. A hint: nothing is durable until a `sync`,
  /// which then has less to wait for.
  func beginWriteBack(_ range: Range<Int>)

  /// Says that the synced bytes of `range` are not needed soon, so that their pages may make room for others at once. Those that
  /// somebody has mapped and touched stay. A hint.
  func letGo(_ range: Range<Int>)

  /// Reserves `capacity` bytes of address space for this file; none of it may be touched until `extend`.
  func map(capacity: Int, writable: Bool) throws(PlatformError) -> any Mapping

  /// Maps the current bytes in `range` copy-on-write: stores are private to this process and never reach the file.
  /// `range.lowerBound` must be a multiple of 4096, whatever the machine's page size, and the file must be long enough. The
  /// mapping cannot be extended.
  func mapPrivate(_ range: Range<Int>) throws(PlatformError) -> any Mapping

  /// Takes the advisory lock on the whole file; returns false if a conflicting lock is held. Two opens in one process
  /// conflict too. The lock is released with the file object or at the end of the process.
  func tryLock(exclusive: Bool) throws(PlatformError) -> Bool

  /// States that the whole file is durable and will be used only occasionally from now on.
  ///
  /// While the process has many files open, such a file may give up its descriptor between calls. Mappings stay valid. A
  /// call that needs a descriptor reopens the file by its path, and throws what that throws: `isOutOfDescriptors`, or
  /// `isGone` if the file has been removed. Idempotent.
  func rest()

  /// Closes the file. Idempotent; mappings stay valid.
  func close()
}

extension File {
  /// Returns `offset`: no holes are known.
  public func nextData(from offset: Int) -> Int? { offset }

  /// Does nothing: the file keeps its descriptor.
  public func rest() {}

  /// Does nothing: the system decides when to write.
  public func beginWriteBack(_ range: Range<Int>) {}

  /// Does nothing: the system decides what makes room.
  public func letGo(_ range: Range<Int>) {}
}

/// A range of a file's bytes in memory, at an address that never changes.
public protocol Mapping: AnyObject, Sendable {
  /// Start of the address range; byte n of the file (of the mapped range, if private) is at `base + n`.
  var base: UnsafeMutableRawPointer { get }

  /// How many bytes from `base` on may be touched.
  var length: Int { get }

  /// Makes `0..<newLength` accessible. Fails with `EINVAL` if the file is shorter, rather than expose a page without
  /// storage. `newLength` is at most the capacity; a value below `length` changes nothing.
  func extend(to newLength: Int) throws(PlatformError)

  /// Faults in the pages of `range` for writing. A hint, except that it throws the error that a store would have crashed on
  /// (`ENOSPC`, `EIO`).
  func populate(_ range: Range<Int>) throws(PlatformError)

  /// Faults in the pages of `range` for reading. A hint.
  func populateForReading(_ range: Range<Int>)

  /// Says whether reading a page that is not in memory is to read what is around it too, as it usually does. Holds for all pages
  /// of the mapping, also for those that `extend` adds. A hint.
  func setReadAhead(_ isWanted: Bool)

  /// Begins to read the pages of `range` that are not in memory, without waiting. A hint.
  func fetch(_ range: Range<Int>)

  /// The pages of `range` that are not in memory, in order, those that follow each other as one range.
  ///
  /// - Complexity: a system call for each 64 pages.
  func absentRanges(in range: Range<Int>) -> [Range<Int>]

  /// Says that the pages of `range` are not needed soon, and may make room for others at once. A hint.
  func letGo(_ range: Range<Int>)

  /// Removes the pages of `range` from this process's page table, leaving their contents alone: the next access maps them
  /// again. A hint, for a range that will be synced and not stored to again: the kernel then need not interrupt every
  /// processor for each page it cleans.
  func detach(_ range: Range<Int>)

  /// Tells whether a page of this mapping could not be read in, because the file was truncated or the device failed. The
  /// bytes there read as zero, and stores there are lost.
  var faultFlag: FaultFlag { get }

  /// Maps the file's pages again where zeros have replaced them, and lowers the flag; a page that still cannot be read in
  /// raises it again. For shared mappings that nobody stores to.
  func renew() throws(PlatformError)

  /// Returns the addresses behind what is accessible to the system, as it will not be extended any more. A hint.
  func trim()

  /// Returns the address range to the system. Idempotent. `base` must not be used afterwards.
  func unmap()
}

extension Mapping {
  /// Does nothing: the system decides what to read.
  public func setReadAhead(_ isWanted: Bool) {}

  /// Does nothing: pages are read when they are touched.
  public func fetch(_ range: Range<Int>) {}

  /// None, as far as anybody knows.
  public func absentRanges(in range: Range<Int>) -> [Range<Int>] { [] }

  /// How many bytes of `range` are in memory.
  public func residentBytes(in range: Range<Int>) -> Int {
    let range = range.clamped(to: 0..<length)
    return range.count - absentRanges(in: range).reduce(0) { $0 + $1.clamped(to: range).count }
  }

  /// Does nothing: the system decides what makes room.
  public func letGo(_ range: Range<Int>) {}

  /// Does nothing: addresses that nothing is mapped to cost nothing.
  public func trim() {}

  /// True once a page of this mapping could not be read in; see `faultFlag`.
  public var isFaulted: Bool { faultFlag.isRaised }
}
