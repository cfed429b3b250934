public import EskerPlatform

/// A point on the process's own coarse monotonic clock: deadlines and leases are told by it.
///
/// It advances in steps of some milliseconds. Compare it with nothing but itself.
public struct RemoteInstant: Comparable, Hashable, Sendable {
  /// Nanoseconds from an arbitrary start.
  public let nanoseconds: UInt64

  /// A point in time.
  @inlinable
  public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

  /// The present; costs about 5 ns.
  @inlinable
  public static var now: RemoteInstant { RemoteInstant(nanoseconds: OSClock().coarseNanoseconds()) }

  /// A point that never comes.
  public static let distantFuture = RemoteInstant(nanoseconds: .max)

  /// The point `duration` later; one that is negative counts as zero.
  public func advanced(by duration: Duration) -> RemoteInstant {
    let (seconds, attoseconds) = duration.components
    guard seconds >= 0, attoseconds >= 0 else { return self }
    let (whole, isTooLong) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    let (length, carried) = whole.addingReportingOverflow(UInt64(attoseconds / 1_000_000_000))
    let (end, overflow) = nanoseconds.addingReportingOverflow(length)
    return isTooLong || carried || overflow ? .distantFuture : RemoteInstant(nanoseconds: end)
  }

  /// How much later this is; zero if it is not.
  func duration(since other: RemoteInstant) -> Duration {
    self > other ? .nanoseconds(Int64(clamping: nanoseconds - other.nanoseconds)) : .zero
  }

  /// Whether the first is earlier.
  @inlinable
  public static func < (left: RemoteInstant, right: RemoteInstant) -> Bool { left.nanoseconds < right.nanoseconds }
}

/// What a server's clock said, held against the clock of this process, so that steps of the wall clock have no effect.
public struct ServerTime: Hashable, Sendable {
  /// Milliseconds since 1970 by the server's clock at ``instant``.
  public var milliseconds: UInt64
  /// When the server was asked, plus half of the time that the answer took.
  public var instant: RemoteInstant
  /// How far it may be off: half of the time that the answer took, and the step of the coarse clock.
  public var error: Duration

  /// A reading of a server's clock.
  public init(milliseconds: UInt64, at instant: RemoteInstant, error: Duration) {
    self.milliseconds = milliseconds
    self.instant = instant
    self.error = error
  }

  /// What the server's clock says at an instant, in milliseconds.
  public func milliseconds(at instant: RemoteInstant) -> UInt64 {
    if instant >= self.instant {
      let (sum, overflow) = milliseconds.addingReportingOverflow(
        (instant.nanoseconds - self.instant.nanoseconds) / 1_000_000
      )
      return overflow ? .max : sum
    }
    let back = (self.instant.nanoseconds - instant.nanoseconds) / 1_000_000
    return milliseconds > back ? milliseconds - back : 0
  }
}
