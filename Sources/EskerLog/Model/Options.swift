/// How a store behaves. Every option can be changed from one opening to the next.
public struct Options: Sendable {
  /// What a write survives when its call does not say. `.buffered` by default.
  public var durability: Durability = .buffered

  /// When a value expires if neither the call nor its keyspace says. `.never` by default.
  public var defaultExpiry: Expiry = .never

  /// Bytes a segment file may grow to; at least 64 KiB, at most 1 GiB. Larger ones are fewer open files, smaller ones are
  /// sealed and merged sooner. A small store keeps to 32 MiB. 64 MiB by default.
  public var segmentSize: Int = 64 << 20

  /// When the store gives up the space of what was replaced, removed or expired.
  public var merge = MergeOptions()

  /// Whether a read checks the record's checksum. `.everyRead` by default.
  public var verification: Verification = .everyRead

  /// How values are packed when segments are merged. `.none` by default; what is packed already stays readable.
  public var compression: Compression = .none

  /// Bytes that the store's files may take together; at least 256 KiB. Nil, the default, is without a limit.
  ///
  /// With a limit the store is a cache: to make room for new records the oldest are evicted, but for those that were read
  /// since they were written or last spared; see <doc:Capacity>. A write that finds no room evicts before it returns. One
  /// that does not fit into half of the capacity is refused with ``StoreError/capacityReached(path:capacity:needed:)``. When
  /// a store is opened with less than it takes, it is brought down to that in the background.
  public var capacity: Int?

  /// Opens beside a writer, changes nothing, and follows what the writer logs. False by default.
  public var readOnly: Bool = false

  /// The clock that expiry follows. The system's by default.
  public var clock: StoreClock = .system

  /// How often figures about the store are written to a file in its directory, for other processes to see:
  /// `esker watch` and ``LogStore/publishedStatistics(at:)``. Nil, the default, is never; at least 10 milliseconds. Takes
  /// about 0.2 ms of a thread of its own each time.
  public var statisticsInterval: Duration?

  /// Called for each event; see ``StoreEvent``.
  public var onEvent: (@Sendable (StoreEvent) -> Void)?

  /// The default options.
  public init() {}
}

/// How values are stored once they are merged into packed segments.
public struct Compression: Sendable, Hashable {
  let level: Int?

  /// As they are.
  public static let none = Compression(level: nil)

  /// With LZ4, at the level that has most of the ratio in half of the time: 4.
  public static let lz4 = Compression(level: 4)

  /// With LZ4 at a level: up to 2 is fast, 3 to 12 take longer, the higher the longer, and make smaller. Reading takes the
  /// same time at every level.
  public static func lz4(level: Int) -> Compression {
    Compression(level: min(max(level, 0), 12))
  }
}

/// Whether reads check checksums.
public enum Verification: Sendable, Hashable {
  /// Every read checks the whole record. Damage is an error, never a wrong value.
  case everyRead
  /// Reads trust the bytes, as a hash table in memory would. Opening and `verify()` still check.
  case openingOnly
}

/// The clocks a store follows.
public struct StoreClock: Sendable {
  /// The civil time.
  public var now: @Sendable () -> WallTime
  /// Time since some start that never goes back, in nanoseconds.
  public var uptimeNanoseconds: @Sendable () -> UInt64

  /// A clock from two functions, for tests.
  public init(now: @escaping @Sendable () -> WallTime, uptimeNanoseconds: @escaping @Sendable () -> UInt64) {
    self.now = now
    self.uptimeNanoseconds = uptimeNanoseconds
  }
}
