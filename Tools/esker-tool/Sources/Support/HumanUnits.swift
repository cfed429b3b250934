/// Human-readable figures.
enum HumanUnits {
  /// `812 B`, `11.5 MB`: powers of 1000, three digits.
  static func bytes(_ count: Int) -> String {
    guard abs(count) >= 1000 else { return "\(count) B" }
    var value = Double(count)
    var unit = ""
    for next in ["kB", "MB", "GB", "TB", "PB", "EB"] where abs(value) >= 999.5 || unit.isEmpty {
      value /= 1000
      unit = next
    }
    return "\(significant(value)) \(unit)"
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

  /// `1 entry`, `2,000 entries`.
  static func entries(_ number: Int) -> String {
    number == 1 ? "1 entry" : "\(count(number)) entries"
  }

  /// A number rounded to some decimal places.
  static func fixed(_ value: Double, _ decimals: Int) -> String {
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

  /// Three significant digits of a number below 1000.
  static func significant(_ value: Double) -> String {
    fixed(value, abs(value) < 9.995 ? 2 : abs(value) < 99.95 ? 1 : 0)
  }

  /// `850 ms`, `12 s`, `3 min 20 s`, `2 h 5 min`.
  static func duration(seconds: Double) -> String {
    guard seconds.isFinite, seconds < 1e12 else { return "very long" }
    if seconds < 1 { return "\(Int((seconds * 1000).rounded())) ms" }
    let whole = Int(seconds.rounded())
    if whole < 60 { return "\(whole) s" }
    if whole < 3600 { return "\(whole / 60) min \(whole % 60) s" }
    return "\(whole / 3600) h \(whole / 60 % 60) min"
  }
}

extension Duration {
  var seconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}
