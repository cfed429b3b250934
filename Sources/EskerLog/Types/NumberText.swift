/// Figures as text for people, in descriptions. Without Foundation, and the same in every locale.
enum NumberText {
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
  static func count(_ number: Int) -> String {
    let digits = Array(String(number.magnitude))
    var text = number < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index).isMultiple(of: 3) { text += "," }
      text.append(digit)
    }
    return text
  }

  /// `1 file`, `2,000 files`.
  static func count(_ number: Int, _ noun: String) -> String {
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
    let decimals = abs(value) < 9.995 ? 2 : abs(value) < 99.95 ? 1 : 0
    return "\(fixed(value, decimals)) \(rest.first ?? "")"
  }

  private static func fixed(_ value: Double, _ decimals: Int) -> String {
    let scale = [1.0, 10, 100][decimals]
    let number = (value * scale).rounded()
    guard abs(number) < 1e15 else { return "\(value)" }
    let digits = String(Int(number.magnitude))
    let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
    let fraction = decimals > 0 ? "." + padded.suffix(decimals) : ""
    return (number < 0 ? "-" : "") + padded.dropLast(decimals) + fraction
  }
}
