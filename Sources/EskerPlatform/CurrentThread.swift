#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

extension Platform {
  /// A number that identifies the calling thread among those now running; never 0.
  ///
  /// C: `pthread_self`.
  ///
  /// Safety: where C returns a pointer, only its bits are used.
  public static var currentThread: UInt {
    #if canImport(Glibc)
      pthread_self()
    #else
      unsafe UInt(bitPattern: pthread_self())
    #endif
  }
}
