#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A limit on this process's resources; to be changed only in exit tests.
public enum ResourceLimit: Sendable {
  /// Bytes of address space.
  case addressSpace
  /// Bytes that a file may have.
  case fileSize
  /// Files that may be open; see also ``FileLimit``.
  case openFiles

  /// The system refused the limit.
  public struct CannotSet: Error {}

  #if canImport(Glibc)
    private var resource: __rlimit_resource_t {
      switch self {
      case .addressSpace: __rlimit_resource_t(RLIMIT_AS.rawValue)
      case .fileSize: __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
      case .openFiles: __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
      }
    }
  #else
    private var resource: Int32 {
      switch self {
      case .addressSpace: Int32(RLIMIT_AS)
      case .fileSize: Int32(RLIMIT_FSIZE)
      case .openFiles: Int32(RLIMIT_NOFILE)
      }
    }
  #endif

  /// The soft and the hard limit.
  public func current() throws -> rlimit {
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0 else { throw CannotSet() }
    return limit
  }

  /// Sets the soft limit; nil lifts it as far as the hard one allows.
  public func set(_ most: Int?) throws {
    var limit = try current()
    limit.rlim_cur = most.map { min(rlim_t($0), limit.rlim_max) } ?? limit.rlim_max
    guard setrlimit(resource, &limit) == 0 else { throw CannotSet() }
  }
}
