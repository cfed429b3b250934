/// How a store is opened.
///
/// A store remembers its durability, default expiry, segment size, compression and capacity: nil, the default of these
/// options, keeps what it remembers, or for a new store the default given here. Any other value is recorded when the store
/// is opened for writing, and applies from then on; see ``Statistics/settings``. A read-only store uses what is recorded. The
/// other options apply to one opening.
public struct Options: Sendable {
  /// The durability of writes that do not specify one. `.buffered` in a new store.
  public var durability: Durability?

  /// The expiry of a value if neither the call nor the keyspace specifies one. `.never` in a new store.
  public var defaultExpiry: Expiry?

  /// The size in bytes up to which a segment file grows; at least 64 KiB, at most 1 GiB. Larger segments mean fewer open
  /// files; smaller ones are sealed and merged sooner. A small store limits itself to 32 MiB. The segment being written may grow to three
  /// times that, as long as overwrites take the room of what died in it. 64 MiB in a new store.
  public var segmentSize: Int?

  /// How values are compressed when segments are merged. `.off` in a new store; what is already packed stays readable.
  public var compression: Options.Compression?

  /// The most bytes that the store's files may take together; at least 256 KiB, or `.max` for no limit. No limit in a new
  /// store.
  ///
  /// With a limit the store is a cache: to make room for new records it evicts the oldest, except those that were read
  /// since they were written or last spared; see <doc:Capacity>. A write that finds no room evicts before it returns. A
  /// write of more than half of the capacity is refused with ``StoreError/capacityReached(path:capacity:needed:)``, by an
  /// empty store too. A store opened with a lower capacity than its size is reduced
  /// to it in the background.
  public var capacity: Int?

  /// When the store reclaims the space of records that were replaced, removed or expired.
  public var merge = Options.Merge()

  /// When what was removed, overwritten or evicted, or has expired, is gone from the store's files. `.whenMerged` by default, which may be
  /// never.
  public var erasure: Options.Erasure = .whenMerged

  /// How often reads compare a record's checksums. `.onceInMemory` by default.
  public var verification: Options.Verification = .onceInMemory

  /// Opens the store without changing it, even while a writer has it open, and follows what the writer logs. False by
  /// default.
  public var readOnly: Bool = false

  /// Whether other processes may write to the store as long as it is open. `.exclusive` by default: they may not.
  public var sharing: Options.Sharing = .exclusive

  /// When the store's files can be read, on Apple's devices that encrypt them with a key each; elsewhere this does nothing. Nil, the
  /// default, leaves files as they are, and gives new ones what their directory has, as the system does.
  ///
  /// An opening for writing sets it for the directory, for all files that are there, and for all that the store makes; another value later
  /// changes them all. With ``FileProtection/complete``, files cannot be read while the device is locked: calls throw
  /// ``StoreError/accessDenied(path:errno:)`` then.
  public var fileProtection: Options.FileProtection?

  /// Whether backups of an Apple device leave the store out; elsewhere this does nothing. Nil, the default, leaves it as it is. Set, and
  /// changed, as ``fileProtection`` is.
  public var isExcludedFromBackup: Bool?

  /// The clock that expiry follows. The system clock by default.
  public var clock: Options.Clock = .system

  /// How often statistics are written to a file in the store's directory, for other processes to read with `esker watch`
  /// or ``LogStore/publishedStatistics(at:)``. Nil, the default, means never; at least 10 milliseconds. Each time takes a
  /// background thread about 0.2 ms.
  public var statisticsInterval: Duration?

  /// Called for each event; see ``StoreEvent``.
  public var onEvent: (@Sendable (StoreEvent) -> Void)?

  /// Creates options; what is left out has its default.
  public init(
    durability: Durability? = nil,
    defaultExpiry: Expiry? = nil,
    segmentSize: Int? = nil,
    compression: Options.Compression? = nil,
    capacity: Int? = nil,
    readOnly: Bool = false,
    onEvent: (@Sendable (StoreEvent) -> Void)? = nil
  ) {
    self.durability = durability
    self.defaultExpiry = defaultExpiry
    self.segmentSize = segmentSize
    self.compression = compression
    self.capacity = capacity
    self.readOnly = readOnly
    self.onEvent = onEvent
  }
}

extension Options {
  /// Who may write to a store that is open.
  public enum Sharing: Sendable, Hashable {
    /// This process alone. Others get ``StoreError/locked(path:holder:)``.
    case exclusive
    /// All processes that have opened the store in this way, one after the other: a write or a batch takes the lock, and gives it up when
    /// another process asks for it. Who asks first is served first. A write that gets no turn within `patience` throws
    /// ``StoreError/locked(path:holder:)``, as where another process is stopped amid its turn. See <doc:SeveralProcesses>.
    case inTurn(patience: Duration = .seconds(10))
  }

  /// When a device that can be locked lets a process at files, by the names of `NSFileProtectionType`.
  public enum FileProtection: Sendable, Hashable, CaseIterable {
    /// Only while the device is unlocked. For a store that is closed before the device is locked.
    case complete
    /// The same, but open files stay usable, and new ones can be made.
    case completeUnlessOpen
    /// From the first time on that the device is unlocked after it was started. For a store that is used in the background.
    case completeUntilFirstUserAuthentication
    /// Always: `none`.
    case unprotected
  }
}

extension Options {
  /// How values are compressed when they are merged into packed segments.
  public struct Compression: Sendable, Hashable {
    /// The level of LZ4; nil without compression.
    public let level: Int?

    /// No compression.
    public static let off = Options.Compression(level: nil)

    /// LZ4 at level 4, which gives most of the ratio in half of the time.
    public static let lz4 = Options.Compression(level: 4)

    /// LZ4 at a level from 0 to 12: up to 2 is fast; from 3 on, each level takes longer and compresses better. Reading
    /// takes the same time at every level.
    public static func lz4(level: Int) -> Options.Compression {
      Options.Compression(level: min(max(level, 0), 12))
    }
  }
}

extension Options {
  /// How often reads compare checksums.
  public enum Verification: Sendable, Hashable {
    /// A read verifies the whole record, unless it has at least 4 KiB and a read has verified it before: then it is trusted as long as
    /// it stays in memory, and for 69 seconds at most. Whatever comes from the device is verified. In a store that is larger than
    /// memory, and after any page could not be read in, the same as ``everyRead``.
    case onceInMemory
    /// Every read verifies the whole record, so it also notices what has happened to it in memory since the last read.
    case everyRead
    /// Reads trust the bytes, as a hash table in memory would. Opening and `verify()` still verify.
    case openingOnly
  }
}

extension Options {
  /// The clocks that a store follows.
  public struct Clock: Sendable {
    /// The current civil time.
    public var now: @Sendable () -> WallTime
    /// The monotonic time since any fixed start, in nanoseconds.
    public var uptimeNanoseconds: @Sendable () -> UInt64

    /// Creates a clock from two functions, for tests. They may be called on any thread.
    public init(now: @escaping @Sendable () -> WallTime, uptimeNanoseconds: @escaping @Sendable () -> UInt64) {
      self.now = now
      self.uptimeNanoseconds = uptimeNanoseconds
    }
  }
}
