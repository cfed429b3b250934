public import Foundation

extension WallTime {
  /// The instant of `date`, to the nearest millisecond; one too far away to be represented becomes the last that is.
  ///
  /// A date that is not a number, which no calendar has, becomes the distant past: what expires then is never visible.
  public init(_ date: Date) {
    let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
    if let exact = Int64(exactly: milliseconds) {
      self.init(millisecondsSince1970: exact)
    } else {
      self.init(millisecondsSince1970: milliseconds > 0 ? .max : .min)
    }
  }

  /// The instant as a date.
  ///
  /// A date holds about 15 digits, so milliseconds are kept for some ten thousand years around now.
  public var date: Date {
    Date(timeIntervalSince1970: Double(millisecondsSince1970) / 1000)
  }
}

extension Expiry {
  /// The value expires at `date`.
  ///
  /// A date in the past is allowed: the value is never visible.
  public static func at(_ date: Date) -> Expiry {
    .at(WallTime(date))
  }
}
