import Foundation

/// The forms of a date. `Date` counts seconds since 2001 in a `Double`; seconds since 1970, the usual epoch, often need one
/// bit more than a `Double` has, so the standard form is used only if it converts back to the same bits.
enum CBORTimestamp {
  /// Tag 1: whole seconds since 1970.
  case whole(Int64)
  /// Tag 1: seconds since 1970.
  case fraction(Double)
  /// Tag 1001: whole seconds since 1970, plus nanoseconds.
  case nanoseconds(Int64, UInt32)
  /// Untagged: seconds since 2001, as in `Date`'s own conformance.
  case reference(Double)

  /// The keys of tag 1001's map (RFC 9581, 3).
  static let secondsKey: Int64 = 1
  static let nanosecondsKey: Int64 = -9

  /// Seconds from 1970 to 2001.
  private static let offset: Int64 = 978_307_200

  init(_ date: Date) {
    let reference = date.timeIntervalSinceReferenceDate
    let epoch = reference + Double(Self.offset)
    if (epoch - Double(Self.offset)).bitPattern == reference.bitPattern {
      if let whole = Int64(exactly: epoch) {
        self = .whole(whole)
      } else {
        self = .fraction(epoch)
      }
      return
    }
    let seconds = reference.rounded(.down)
    let nanoseconds = ((reference - seconds) * 1e9).rounded()
    if nanoseconds < 1e9, let whole = Int64(exactly: seconds), whole.magnitude < 1 << 62,
      (seconds + nanoseconds / 1e9).bitPattern == reference.bitPattern
    {
      let epoch = whole + Self.offset
      self = nanoseconds == 0 ? .whole(epoch) : .nanoseconds(epoch, UInt32(nanoseconds))
    } else {
      self = .reference(reference)
    }
  }

  /// The date, or nil if it is out of range.
  var date: Date? {
    switch self {
    case .whole(let seconds):
      let (reference, overflow) = seconds.subtractingReportingOverflow(Self.offset)
      return overflow ? nil : Date(timeIntervalSinceReferenceDate: Double(reference))
    case .fraction(let seconds):
      return Date(timeIntervalSinceReferenceDate: seconds - Double(Self.offset))
    case .nanoseconds(let seconds, let nanoseconds):
      let (reference, overflow) = seconds.subtractingReportingOverflow(Self.offset)
      return overflow ? nil : Date(timeIntervalSinceReferenceDate: Double(reference) + Double(nanoseconds) / 1e9)
    case .reference(let seconds):
      return Date(timeIntervalSinceReferenceDate: seconds)
    }
  }
}
