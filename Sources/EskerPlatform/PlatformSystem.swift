#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

extension Platform {
  /// The machine that this process runs on.
  public static var system: Platform {
    Platform(
      fileSystem: OSFileSystem(),
      clock: OSClock(),
      random: {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
      },
      processID: getpid(),
      pageCacheRoom: { PageCache.room() }
    )
  }
}
