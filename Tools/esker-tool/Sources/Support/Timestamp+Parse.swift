import Esker

/// Parses an ISO 8601 time: the description of a `WallTime`, or the same with other fractions or an offset in hours and
/// minutes. Nil for anything else.
func parseTimestamp(_ text: Span<UInt8>) -> WallTime? {
  var cursor = TimestampCursor(text: [UInt8](copying: text))
  guard let time = cursor.time() else { return nil }
  return WallTime(millisecondsSince1970: time)
}

private struct TimestampCursor {
  let text: [UInt8]
  private var position = 0

  init(text: [UInt8]) {
    self.text = text
  }

  mutating func time() -> Int64? {
    let sign: Int64 = skip("-") ? -1 : 1
    let isSigned = sign < 0 || skip("+")
    guard let year = number(digits: isSigned ? 4...9 : 4...4), skip("-"), let month = number(digits: 2...2), skip("-"),
      let day = number(digits: 2...2), skip("T"), let hour = number(digits: 2...2), skip(":"),
      let minute = number(digits: 2...2), skip(":"), let second = number(digits: 2...2), let milliseconds = fraction(),
      let offset = offset(), position == text.count
    else { return nil }
    guard 1...12 ~= month, 1...monthLength(month, sign * year) ~= day, hour < 24, minute < 60, second < 60 else {
      return nil
    }
    let days = daysSince1970(sign * year, month, day)
    let seconds = hour * 3600 + minute * 60 + second - offset * 60
    // Neither the first representable day nor the time of day that leads back into range may overflow on the way.
    let (whole, overflow) = (days + 1).multipliedReportingOverflow(by: 86_400_000)
    guard !overflow else { return nil }
    let (time, overflowed) = whole.addingReportingOverflow((seconds - 86_400) * 1000 + milliseconds)
    return overflowed ? nil : time
  }

  private mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard position < text.count, text[position] == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  private mutating func number(digits: ClosedRange<Int>) -> Int64? {
    let start = position
    var number: Int64 = 0
    while position < text.count, position - start < digits.upperBound, text[position] &- 0x30 < 10 {
      number = number * 10 + Int64(text[position] - 0x30)
      position += 1
    }
    return digits.contains(position - start) ? number : nil
  }

  /// The milliseconds of an optional fraction; further digits are truncated.
  private mutating func fraction() -> Int64? {
    guard skip(".") else { return 0 }
    let start = position
    var milliseconds: Int64 = 0
    var scale: Int64 = 100
    while position < text.count, text[position] &- 0x30 < 10 {
      milliseconds += Int64(text[position] - 0x30) * scale
      scale /= 10
      position += 1
    }
    return position > start ? milliseconds : nil
  }

  /// The offset from UTC in minutes.
  private mutating func offset() -> Int64? {
    if skip("Z") { return 0 }
    let sign: Int64 = skip("-") ? -1 : 1
    guard sign < 0 || skip("+"), let hours = number(digits: 2...2), skip(":"), let minutes = number(digits: 2...2),
      hours < 24, minutes < 60
    else { return nil }
    return sign * (hours * 60 + minutes)
  }
}

private func monthLength(_ month: Int64, _ year: Int64) -> Int64 {
  switch month {
  case 4, 6, 9, 11: 30
  case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
  default: 31
  }
}

/// Days since 1 January 1970 in the Gregorian calendar; counts years from March, so that the leap day is a year's last.
private func daysSince1970(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
  let year = month <= 2 ? year - 1 : year
  let era = (year >= 0 ? year : year - 399) / 400
  let yearOfEra = year - era * 400
  let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
  let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
  return era * 146_097 + dayOfEra - 719_468
}
