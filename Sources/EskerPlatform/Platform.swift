/// Everything Esker takes from the machine it runs on, in one value that a test can replace.
public struct Platform: Sendable {
  /// The file system.
  public var fileSystem: any FileSystem
  /// The clock.
  public var clock: any SystemClock
  /// A source of unpredictable 64-bit numbers, for seeds and salts.
  public var random: @Sendable () -> UInt64
  /// Identifies this process in the lock file.
  public var processID: Int32
  /// How many bytes of files could be in memory, as ``PageCache/room(root:)`` says; nil if unknown.
  public var pageCacheRoom: @Sendable () -> Int?

  /// Assembles a platform from its parts.
  public init(
    fileSystem: any FileSystem,
    clock: any SystemClock,
    random: @escaping @Sendable () -> UInt64,
    processID: Int32,
    pageCacheRoom: @escaping @Sendable () -> Int? = { nil }
  ) {
    self.fileSystem = fileSystem
    self.clock = clock
    self.random = random
    self.processID = processID
    self.pageCacheRoom = pageCacheRoom
  }

  /// Sleeps about a millisecond, between two attempts at something that another process is about to finish.
  public func pause() {
    let lock = Lock(.leaf)
    let condition = Condition()
    lock.lock()
    _ = condition.wait(lock, nanoseconds: 1_000_000)
    lock.unlock()
  }
}
