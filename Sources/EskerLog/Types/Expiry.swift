/// When a value stops being visible.
public enum Expiry: Hashable, Sendable {
  /// The value stays until it is removed.
  case never
  /// The value expires this long after the write. With zero or less, it expires at once.
  case after(Duration)
  /// The value expires at this instant. If the instant has passed, the value is never visible.
  case at(WallTime)
}

/// A point in civil time, in milliseconds.
public struct WallTime: Comparable, Hashable, Sendable {
  /// Milliseconds since 1970-01-01 00:00:00 UTC, leap seconds not counted.
  public let millisecondsSince1970: Int64

  /// Creates the instant this many milliseconds after 1970-01-01 00:00:00 UTC.
  public init(millisecondsSince1970: Int64) {
    self.millisecondsSince1970 = millisecondsSince1970
  }

  /// Whether the first instant is before the second.
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
  /// Creates an expiry from its form in a record; `Int64.max` means never.
  package init(stored milliseconds: Int64) {
    self = milliseconds == .max ? .never : .at(WallTime(millisecondsSince1970: milliseconds))
  }

  /// The form of an instant in a record; a duration has none, and counts as never.
  package var stored: Int64 {
    if case .at(let instant) = self { return instant.millisecondsSince1970 }
    return .max
  }
}

extension Duration {
  /// The duration in milliseconds, without fractions, clamped to `Int64`.
  var wholeMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    guard !overflow else { return seconds < 0 ? .min : .max }
    let (sum, carried) = product.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
    guard !carried else { return seconds < 0 ? .min : .max }
    return sum
  }

  /// The duration in nanoseconds, clamped to `UInt64`; 0 if negative.
  var wholeNanoseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let (product, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    guard !overflow else { return .max }
    let (sum, carried) = product.addingReportingOverflow(UInt64(attoseconds / 1_000_000_000))
    return carried ? .max : sum
  }
}
