/// The one seam between Esker and the operating system's files.
///
/// The engine calls nothing else that touches a disk, so a test can stand in for the disk: lose what was not synced,
/// tear a page, fill the volume or fail the n-th call. Paths are absolute or relative to the working directory, as the
/// caller gave them. Every function is safe to call from any thread.
public protocol FileSystem: Sendable {
  /// Opens a file. `.create` makes a new one and fails with `EEXIST` if the name is taken.
  func open(_ path: String, _ mode: OpenMode) throws(PlatformError) -> any File

  /// What stands at `path`, following links; nil when nothing does.
  func status(_ path: String) throws(PlatformError) -> FileStatus?

  /// Names in a directory, without `.` and `..`, in no order.
  func list(_ directory: String) throws(PlatformError) -> [String]

  /// Creates one directory; its parent must exist.
  func createDirectory(_ path: String) throws(PlatformError)

  /// Removes a file's name. Durable once the directory is synced.
  func remove(_ path: String) throws(PlatformError)

  /// Removes a directory that is empty. Durable once its parent is synced.
  func removeDirectory(_ path: String) throws(PlatformError)

  /// Replaces `newPath` by `path` in one step. Durable once the directory is synced; no barrier for the data.
  func rename(_ path: String, to newPath: String) throws(PlatformError)

  /// Gives a file a second name.
  func link(_ path: String, to newPath: String) throws(PlatformError)

  /// Makes every earlier change to the names in `directory` durable.
  func syncDirectory(_ directory: String) throws(PlatformError)

  /// Bytes a process without privileges can still allocate on the volume that holds `path`.
  func freeSpace(at path: String) throws(PlatformError) -> Int
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
  /// What kinds of thing Esker tells apart.
  public enum Kind: Sendable { case file, directory, other }
  /// A file, a directory or something Esker has no use for.
  public var kind: Kind
  /// The length in bytes.
  public var size: Int
  /// How many names the file has.
  public var linkCount: Int

  /// Describes a file.
  public init(kind: Kind, size: Int, linkCount: Int) {
    self.kind = kind
    self.size = size
    self.linkCount = linkCount
  }
}

/// One open file.
///
/// Reads and writes name their offset, so the object has no position and may be used from several threads at once.
/// The file is closed by `close()` or when the last reference goes.
public protocol File: AnyObject, Sendable {
  var path: String { get }

  /// The file's length, and how many names it still has (0 when it was removed while open). What rests and was removed may fail
  /// with an error that `isGone`.
  func status() throws(PlatformError) -> FileStatus

  /// Fills `buffer` from `offset` on; returns fewer bytes than asked for only at the end of the file.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(PlatformError) -> Int

  /// Where the first byte from `offset` on stands that may not be zero; nil when all are zeros up to the end.
  ///
  /// For long runs that were never written, which reading would bring into memory: `offset` itself is always a right answer,
  /// if a useless one. Stores made through mappings count, in all processes.
  func nextData(from offset: Int) -> Int?

  /// Writes all of `buffer` at `offset`, growing the file if need be.
  func write(_ buffer: UnsafeRawBufferPointer, at offset: Int) throws(PlatformError)

  /// Allocates storage so that `0..<length` can be written without running out of space; new bytes read as zero and
  /// the file is at least `length` long afterwards. Fails with `ENOSPC` and leaves what was there as it was.
  func reserve(_ length: Int) throws(PlatformError)

  /// Cuts the file to `length`. The range cut off must not be mapped.
  func truncate(_ length: Int) throws(PlatformError)

  /// Makes the file's contents, its length and every store made through its mappings durable (`fdatasync`; on Apple
  /// platforms `msync` and `F_FULLFSYNC`). After a failure nothing may be assumed durable on the strength of a retry.
  func sync() throws(PlatformError)

  /// Has the system begin to write what it holds of `range` to the device, and does not wait. A hint: nothing is durable before
  /// a `sync`, which then has less to wait for.
  func beginWriteBack(_ range: Range<Int>)

  /// Sets aside `capacity` bytes of address space for this file; nothing of it may be touched until `extend`.
  func map(capacity: Int, writable: Bool) throws(PlatformError) -> any Mapping

  /// Maps the file's current bytes `range` copy-on-write: stores are private to this process and never reach the file.
  /// `range.lowerBound` must be a multiple of 4096, whatever the size of the machine's pages, and the file long enough.
  /// The mapping cannot be extended.
  func mapPrivate(_ range: Range<Int>) throws(PlatformError) -> any Mapping

  /// Takes the advisory lock on the whole file if nobody else holds a conflicting one; false when somebody does.
  /// Conflicts between two opens in one process count. The lock goes with the file object or the process.
  func tryLock(exclusive: Bool) throws(PlatformError) -> Bool

  /// Says that all of the file is durable and that it will be used now and then at most.
  ///
  /// While the process has many files open, such a file may give its descriptor up between two calls. Mappings stay valid. A call
  /// that needs a descriptor then opens the file again by its path, and fails with what that fails with: `isOutOfDescriptors`,
  /// or `isGone` when the file has been removed. Idempotent.
  func rest()

  /// Closes the file. Idempotent; mappings stay valid.
  func close()
}

extension File {
  /// Knows of nothing that is not there.
  public func nextData(from offset: Int) -> Int? { offset }

  /// Keeps its descriptor.
  public func rest() {}

  /// Leaves it to the system.
  public func beginWriteBack(_ range: Range<Int>) {}
}

/// A run of a file's bytes in memory, at an address that never changes.
public protocol Mapping: AnyObject, Sendable {
  /// Start of the address range; byte n of the file (of the mapped range, for a private one) is at `base + n`.
  var base: UnsafeMutableRawPointer { get }

  /// How many bytes from `base` may be touched.
  var length: Int { get }

  /// Makes `0..<newLength` accessible. The file must be at least that long: fails with `EINVAL` rather than expose a page
  /// that has no storage. `newLength` is at most the capacity; a smaller value than `length` changes nothing.
  func extend(to newLength: Int) throws(PlatformError)

  /// Brings the pages of `range` in, ready to be stored to without a fault. A hint, but one that reports what a store
  /// would have died of (`ENOSPC`, `EIO`).
  func populate(_ range: Range<Int>) throws(PlatformError)

  /// Brings the pages of `range` in, ready to be read without a fault. A hint.
  func populateForReading(_ range: Range<Int>)

  /// Takes the pages of `range` out of this process's page table, contents unharmed: the next touch brings them back. A
  /// hint, for a range that will be synced and not stored to again: the kernel need not then interrupt every processor for
  /// each page it cleans.
  func detach(_ range: Range<Int>)

  /// Says whether a page of this mapping could not be had: the file was cut short under it, or the medium failed. The
  /// bytes there read as zero, and stores there go nowhere.
  var faultFlag: FaultFlag { get }

  /// Maps the file's pages again where some could not be had and zeros stand, and lowers the flag; a page that cannot be had
  /// now either raises it again. For shared mappings that nobody stores to.
  func renew() throws(PlatformError)

  /// Gives the address range back. Idempotent. Nobody may use `base` afterwards.
  func unmap()
}

extension Mapping {
  /// True once a page of this mapping could not be had; see `faultFlag`.
  public var isFaulted: Bool { faultFlag.isRaised }
}
