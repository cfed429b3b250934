/// The settings of a store. Every option can be changed from one opening to the next.
public struct Options: Sendable {
  /// The durability of writes that do not specify one. `.buffered` by default.
  public var durability: Durability = .buffered

  /// The expiry of a value if neither the call nor the keyspace specifies one. `.never` by default.
  public var defaultExpiry: Expiry = .never

  /// The size in bytes up to which a segment file grows; at least 64 KiB, at most 1 GiB. Larger segments mean fewer open
  /// files; smaller ones are sealed and merged sooner. A small store limits itself to 32 MiB. 64 MiB by default.
  public var segmentSize: Int = 64 << 20

  /// When the store reclaims the space of records that were replaced, removed or expired.
  public var merge = MergeOptions()

  /// Whether a read checks the record's checksum. `.everyRead` by default.
  public var verification: Verification = .everyRead

  /// How values are compressed when segments are merged. `.none` by default; what is already packed stays readable.
  public var compression: Compression = .none

  /// The most bytes that the store's files may take together; at least 256 KiB. Nil, the default, means no limit.
  ///
  /// With a limit the store is a cache: to make room for new records it evicts the oldest, except those that were read
  /// since they were written or last spared; see <doc:Capacity>. A write that finds no room evicts before it returns. A
  /// write of more than half of the capacity is refused with ``StoreError/capacityReached(path:capacity:needed:)``, by an
  /// empty store too. A store opened with a lower capacity than its size is reduced
  /// to it in the background.
  public var capacity: Int?

  /// Opens the store without changing it, even while a writer has it open, and follows what the writer logs. False by
  /// default.
  public var readOnly: Bool = false

  /// The clock that expiry follows. The system clock by default.
  public var clock: StoreClock = .system

  /// How often statistics are written to a file in the store's directory, for other processes to read with `esker watch`
  /// or ``LogStore/publishedStatistics(at:)``. Nil, the default, means never; at least 10 milliseconds. Each time takes a
  /// background thread about 0.2 ms.
  public var statisticsInterval: Duration?

  /// Called for each event; see ``StoreEvent``.
  public var onEvent: (@Sendable (StoreEvent) -> Void)?

  /// Creates the default options.
  public init() {}
}

/// How values are compressed when they are merged into packed segments.
public struct Compression: Sendable, Hashable {
  let level: Int?

  /// No compression.
  public static let none = Compression(level: nil)

  /// LZ4 at level 4, which gives most of the ratio in half of the time.
  public static let lz4 = Compression(level: 4)

  /// LZ4 at a level from 0 to 12: up to 2 is fast; from 3 on, each level takes longer and compresses better. Reading
  /// takes the same time at every level.
  public static func lz4(level: Int) -> Compression {
    Compression(level: min(max(level, 0), 12))
  }
}

/// Whether reads verify checksums.
public enum Verification: Sendable, Hashable {
  /// Every read verifies the whole record. Damage is an error, never a wrong value.
  case everyRead
  /// Reads trust the bytes, as a hash table in memory would. Opening and `verify()` still verify.
  case openingOnly
}

/// The clocks that a store follows.
public struct StoreClock: Sendable {
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
