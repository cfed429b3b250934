import Esker
import Synchronization

/// A clock that a test moves.
final class TestClock: Sendable {
  private let milliseconds = Mutex<Int64>(1_700_000_000_000)

  var clock: Options.Clock {
    Options.Clock { [self] in
      WallTime(millisecondsSince1970: milliseconds.withLock { $0 })
    } uptimeNanoseconds: { [self] in
      UInt64(milliseconds.withLock { $0 }) * 1_000_000
    }
  }

  func advance(bySeconds seconds: Int64) {
    milliseconds.withLock { $0 += seconds * 1000 }
  }
}
