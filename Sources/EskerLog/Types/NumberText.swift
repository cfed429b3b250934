/// Figures as text for people, in descriptions. Without Foundation, and the same in every locale.
package enum NumberText {
  /// `812 bytes`, `11.5 MB`: powers of 1000, three digits.
  static func bytes(_ count: Int) -> String {
    guard count.magnitude >= 1000 else { return self.count(count, "byte") }
    return scaled(Double(count), ["kB", "MB", "GB", "TB", "PB", "EB"], by: 1000)
  }

  /// `640 ns`, `1.25 ms`, `12.0 s`: three digits.
  static func time(_ duration: Duration) -> String {
    let (seconds, attoseconds) = duration.components
    let nanoseconds = Double(seconds) * 1e9 + Double(attoseconds) * 1e-9
    guard nanoseconds >= 1000 else { return "\(Int(nanoseconds)) ns" }
    return scaled(nanoseconds, ["µs", "ms", "s"], by: 1000)
  }

  /// `1,234,567`.
  package static func count(_ number: Int) -> String {
    let digits = Array(String(number.magnitude))
    var text = number < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index).isMultiple(of: 3) { text += "," }
      text.append(digit)
    }
    return text
  }

  /// `1 file`, `2,000 files`.
  package static func count(_ number: Int, _ noun: String) -> String {
    "\(count(number)) \(noun)\(number == 1 ? "" : "s")"
  }

  /// A share of one as `54 %`.
  static func percent(_ share: Double) -> String {
    share.isFinite ? "\(Int((share * 100).rounded())) %" : "\(share)"
  }

  /// The value in the first unit that leaves it below 1000, or in the last.
  private static func scaled(_ value: Double, _ units: [String], by step: Double) -> String {
    var value = value / step
    var rest = units[...]
    while rest.count > 1, abs(value) >= 999.5 {
      value /= step
      rest = rest.dropFirst()
    }
    return "\(significant(value)) \(rest.first ?? "")"
  }

  /// Three significant digits of a number below 1000.
  package static func significant(_ value: Double) -> String {
    fixed(value, abs(value) < 9.995 ? 2 : abs(value) < 99.95 ? 1 : 0)
  }

  /// A number rounded to some decimal places.
  package static func fixed(_ value: Double, _ decimals: Int) -> String {
    var scale = 1.0
    for _ in 0..<decimals { scale *= 10 }
    let scaled = (value * scale).rounded()
    guard scaled.isFinite, abs(scaled) < 1e15 else { return "\(value)" }
    let number = Int(scaled.magnitude)
    let sign = scaled < 0 ? "-" : ""
    guard decimals > 0 else { return sign + String(number) }
    let digits = String(number)
    let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
    return sign + padded.dropLast(decimals) + "." + padded.suffix(decimals)
  }
}
