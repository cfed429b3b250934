import EskerLog
import Synchronization

/// A clock that advances by a millisecond when told to.
final class WriteClock: Sendable {
  private let milliseconds = Atomic<Int64>(1_000_000_000_000)

  func tick() {
    milliseconds.add(1, ordering: .relaxed)
  }

  var storeClock: Options.Clock {
    Options.Clock(
      now: { WallTime(millisecondsSince1970: self.milliseconds.load(ordering: .relaxed)) },
      uptimeNanoseconds: { UInt64(self.milliseconds.load(ordering: .relaxed)) * 1_000_000 }
    )
  }
}
