package import EskerPlatform

/// The surroundings of a store: the machine, and who does its background work.
package struct Host: Sendable {
  /// Who does the background work.
  package enum Background: Sendable {
    /// Threads of the store's own.
    case threads
    /// Whoever writes, after each write: deterministic, for tests.
    case inline
  }

  package var platform: Platform
  package var background: Background

  /// Called before each record is published and after; a test takes crash images there.
  package var onPublish: (@Sendable () -> Void)?

  package init(platform: Platform, background: Background, onPublish: (@Sendable () -> Void)? = nil) {
    self.platform = platform
    self.background = background
    self.onPublish = onPublish
  }

  package static var system: Host { Host(platform: .system, background: .threads) }
}

extension StoreClock {
  /// The clocks of the machine.
  public static let system = StoreClock(
    now: { WallTime(millisecondsSince1970: OSClock().wallMilliseconds()) },
    uptimeNanoseconds: { OSClock().monotonicNanoseconds() }
  )
}

extension StoreError {
  /// What a failed call to the operating system means to a caller.
  package init(_ error: PlatformError, needed: Int = 0) {
    if error.isFull {
      self = .noSpace(path: error.path, needed: needed)
    } else {
      self = .failed(operation: error.operation, path: error.path, errno: error.code)
    }
  }
}

/// Runs platform calls and translates what they throw.
@inline(__always)
func translating<R: ~Copyable>(_ body: () throws(PlatformError) -> R) throws(StoreError) -> R {
  do throws(PlatformError) {
    return try body()
  } catch {
    throw StoreError(error)
  }
}
