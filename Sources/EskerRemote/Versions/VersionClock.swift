internal import EskerPlatform

/// Gives each write of a process its version: a hybrid clock, fed by the time of servers and by the versions that are read.
///
/// Times never go back and no version is given twice, whatever the clocks do. What is written after a value was read has a later time
/// than that value, unless the value's is far ahead of all clocks.
final class VersionClock: Sendable {
  /// How far the time of a version may be ahead of the server's and still be followed. One that is further was made by a broken clock,
  /// and must not take ours along.
  static let greatestLead: UInt64 = 60_000

  /// The number of this process, or of this start of it.
  let writer: UInt64
  private let last: Guarded<Last>

  private struct Last {
    var time: UInt64 = 0
    var count: UInt16 = 0
  }

  /// A clock for a writer, of whose number 48 bits count.
  init(writer: UInt64) {
    self.writer = writer & 0xFFFF_FFFF_FFFF
    last = Guarded(Last(), .leaf)
  }

  /// The next version.
  ///
  /// - Parameter milliseconds: the present by the server's clock.
  func next(at milliseconds: UInt64) -> RemoteVersion {
    last.withLock { last in
      if milliseconds > last.time {
        last = Last(time: milliseconds)
      } else if last.count < .max {
        last.count += 1
      } else {
        last = Last(time: last.time + 1)
      }
      return RemoteVersion(time: last.time, count: last.count, writer: writer)
    }
  }

  /// Notes a version that was read: those given from now on are later.
  func follow(_ version: RemoteVersion, at milliseconds: UInt64) {
    guard version.time <= milliseconds || version.time - milliseconds <= Self.greatestLead else { return }
    last.withLock { last in
      if (version.time, version.count) > (last.time, last.count) {
        last = Last(time: version.time, count: version.count)
      }
    }
  }
}
