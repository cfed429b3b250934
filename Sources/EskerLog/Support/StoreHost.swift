package import EskerPlatform

/// The environment of a store: the platform, and which threads do its background work.
package struct StoreHost: Sendable {
  /// Which threads do the background work.
  package enum Background: Sendable {
    /// The store's own threads.
    case threads
    /// The writing thread, after each write: deterministic, for tests.
    case inline
  }

  package var platform: Platform
  package var background: Background

  /// Whether a close leaves a checkpoint of a small store, too. Tests, which use no threads, want that of theirs.
  package var checkpointsSmallStores: Bool

  /// Whether records take the room of dead ones that were not synced. Tests that look at the log turn it off.
  package var reusesSpace: Bool

  /// Called before and after each record is published; tests take crash images there.
  package var onPublish: (@Sendable () -> Void)?

  package init(platform: Platform, background: Background, onPublish: (@Sendable () -> Void)? = nil) {
    self.platform = platform
    self.background = background
    checkpointsSmallStores = background == .inline
    reusesSpace = background == .threads
    self.onPublish = onPublish
  }

  package static var system: StoreHost { StoreHost(platform: .system, background: .threads) }
}

extension StoreHost {
  /// A path given by a caller, made absolute: a store, and whatever works on its files, goes on with the files that the path
  /// named at the call, wherever the process goes meanwhile. Every call that takes a path begins with this.
  package func absolute(_ path: String) throws(StoreError) -> String {
    try translating { () throws(PlatformError) in try platform.fileSystem.absolute(path) }
  }
}

extension Options.Clock {
  /// The system's clocks.
  public static let system = Options.Clock(
    now: { WallTime(millisecondsSince1970: OSClock().wallMilliseconds()) },
    uptimeNanoseconds: { OSClock().monotonicNanoseconds() }
  )
}

extension StoreError {
  /// Translates a failed call to the operating system.
  package init(_ error: PlatformError, needed: Int = 0) {
    if error.isFull {
      self = .noSpace(path: error.path, needed: needed)
    } else if error.isDenied {
      self = .accessDenied(path: error.path, errno: error.code)
    } else {
      self = .failed(operation: error.operation, path: error.path, errno: error.code)
    }
  }
}

/// Runs platform calls and translates the errors they throw.
@inline(__always)
func translating<R: ~Copyable>(_ body: () throws(PlatformError) -> R) throws(StoreError) -> R {
  do throws(PlatformError) {
    return try body()
  } catch {
    throw StoreError(error)
  }
}
