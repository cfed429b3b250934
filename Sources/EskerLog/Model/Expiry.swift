/// When a value stops being visible.
public enum Expiry: Hashable, Sendable {
  /// The value stays until it is removed.
  case never
  /// The value goes after this long, counted from the write. Zero or less: it is gone at once.
  case after(Duration)
  /// The value goes at this instant. An instant in the past is allowed: the value is never visible.
  case at(WallTime)
}

/// An instant of the civil calendar, in milliseconds.
public struct WallTime: Comparable, Hashable, Sendable {
  /// Milliseconds since 1970-01-01 00:00:00 UTC, leap seconds not counted.
  public let millisecondsSince1970: Int64

  /// The instant that many milliseconds after 1970-01-01 00:00:00 UTC.
  public init(millisecondsSince1970: Int64) {
    self.millisecondsSince1970 = millisecondsSince1970
  }

  /// Whether the first instant comes before the second.
  public static func < (left: WallTime, right: WallTime) -> Bool {
    left.millisecondsSince1970 < right.millisecondsSince1970
  }

  /// The instant `duration` later, clamped to what can be represented.
  public func advanced(by duration: Duration) -> WallTime {
    let (sum, overflow) = millisecondsSince1970.addingReportingOverflow(duration.wholeMilliseconds)
    guard overflow else { return WallTime(millisecondsSince1970: sum) }
    return WallTime(millisecondsSince1970: duration < .zero ? .min : .max)
  }
}

extension Expiry {
  /// What a record says; `Int64.max` stands for never.
  package init(stored milliseconds: Int64) {
    self = milliseconds == .max ? .never : .at(WallTime(millisecondsSince1970: milliseconds))
  }
}

extension Duration {
  /// The duration in milliseconds, fractions dropped, clamped to what an `Int64` holds.
  var wholeMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    guard !overflow else { return seconds < 0 ? .min : .max }
    let (sum, carried) = product.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
    guard !carried else { return seconds < 0 ? .min : .max }
    return sum
  }

  /// The duration in nanoseconds, never negative, clamped to what a `UInt64` holds.
  var wholeNanoseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let (product, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    guard !overflow else { return .max }
    let (sum, carried) = product.addingReportingOverflow(UInt64(attoseconds / 1_000_000_000))
    return carried ? .max : sum
  }
}
