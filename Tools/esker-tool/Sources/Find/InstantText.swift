import Esker
import Foundation

/// The microseconds since 1970 of an instant in ISO 8601: with a fraction, an offset or neither, without seconds, or a day alone,
/// which begins at midnight UTC. Nil for anything else.
///
/// More digits than that are not compared: the seconds of a `Date` have no more.
func microseconds(ofInstant text: String) -> Double? {
  // Most texts are none, and end here.
  guard text.utf8.count >= 10, text.utf8.count <= 40, let first = text.utf8.first,
    first &- 0x30 < 10 || first == UInt8(ascii: "+") || first == UInt8(ascii: "-")
  else { return nil }
  guard let split = text.firstIndex(where: { $0 == "T" || $0 == "t" || $0 == " " }) else {
    return milliseconds(text + "T00:00:00Z").map { $0 * 1000 }
  }
  var time = text[text.index(after: split)...]
  var offset = "Z"
  if let last = time.last, last == "Z" || last == "z" {
    time.removeLast()
  } else {
    guard let sign = time.lastIndex(where: { $0 == "+" || $0 == "-" }) else { return nil }
    let digits = time[time.index(after: sign)...].filter { $0 != ":" }
    guard digits.count == 2 || digits.count == 4 else { return nil }
    offset = "\(time[sign])\(digits.prefix(2)):\(digits.count == 4 ? String(digits.suffix(2)) : "00")"
    time = time[..<sign]
  }
  let point = time.firstIndex { $0 == "." || $0 == "," }
  let fraction = point.map { String(time[time.index(after: $0)...]) } ?? ""
  var clock = String(point.map { time[..<$0] } ?? time)
  if clock.utf8.count == 5, fraction.isEmpty { clock += ":00" }
  guard fraction.utf8.allSatisfy({ $0 &- 0x30 < 10 }), point == nil || !fraction.isEmpty,
    let whole = milliseconds("\(text[..<split])T\(clock)\(offset)")
  else { return nil }
  return whole * 1000 + ((Double("0.\(fraction)0") ?? 0) * 1_000_000).rounded()
}

/// The same of a date.
func microseconds(of date: Date) -> Double { (date.timeIntervalSince1970 * 1_000_000).rounded() }

private func milliseconds(_ text: String) -> Double? {
  parseTimestamp(ContiguousArray(text.utf8).span).map { Double($0.millisecondsSince1970) }
}
