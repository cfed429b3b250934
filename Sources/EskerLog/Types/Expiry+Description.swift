extension WallTime: CustomStringConvertible {
  /// The instant in ISO 8601, in UTC with milliseconds: `2026-03-01T12:00:00.000Z`.
  ///
  /// Years after 9999 and before 0 get a sign, as the standard requires.
  public var description: String {
    let (days, milliseconds) = divided(millisecondsSince1970, by: 86_400_000)
    let (year, month, day) = civilDate(daysSince1970: days)
    let seconds = milliseconds / 1000
    let sign = year < 0 ? "-" : year > 9999 ? "+" : ""
    let date = "\(sign)\(padded(abs(year), 4))-\(padded(month, 2))-\(padded(day, 2))"
    let clock = "\(padded(seconds / 3600, 2)):\(padded(seconds / 60 % 60, 2)):\(padded(seconds % 60, 2))"
    return "\(date)T\(clock).\(padded(milliseconds % 1000, 3))Z"
  }
}

extension Expiry: CustomStringConvertible {
  /// `never`, `after 90.0 seconds` or `at 2026-03-01T12:00:00.000Z`.
  public var description: String {
    switch self {
    case .never: "never"
    case .after(let duration): "after \(duration)"
    case .at(let instant): "at \(instant)"
    }
  }
}

/// The date in the Gregorian calendar.
///
/// Counts from 1 March of year 0, so that the leap day is a year's last.
private func civilDate(daysSince1970: Int64) -> (year: Int64, month: Int64, day: Int64) {
  let (era, dayOfEra) = divided(daysSince1970 + 719_468, by: 146_097)
  let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
  let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
  let monthFromMarch = (5 * dayOfYear + 2) / 153
  let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
  let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
  return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, day)
}

/// Quotient and remainder, rounded down, so that the remainder is never negative.
private func divided(_ dividend: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
  let (quotient, remainder) = dividend.quotientAndRemainder(dividingBy: divisor)
  return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
}

private func padded(_ number: Int64, _ width: Int) -> String {
  let digits = String(number)
  return String(repeating: "0", count: max(0, width - digits.count)) + digits
}
