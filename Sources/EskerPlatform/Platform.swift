/// Everything Esker takes from the machine it runs on, in one value that a test can replace.
public struct Platform: Sendable {
  /// Where the files are.
  public var fileSystem: any FileSystem
  /// What time it is.
  public var clock: any SystemClock
  /// A source of unpredictable 64-bit numbers, for seeds and salts.
  public var random: @Sendable () -> UInt64
  /// Identifies this process in the lock file.
  public var processID: Int32

  /// Puts a platform together from its parts.
  public init(
    fileSystem: any FileSystem,
    clock: any SystemClock,
    random: @escaping @Sendable () -> UInt64,
    processID: Int32
  ) {
    self.fileSystem = fileSystem
    self.clock = clock
    self.random = random
    self.processID = processID
  }

  /// Lets some time pass: a wait between two tries of something that another process is about to finish.
  public func pause() {
    let lock = Lock(.leaf)
    let condition = Condition()
    lock.lock()
    _ = condition.wait(lock, nanoseconds: 1_000_000)
    lock.unlock()
  }
}
