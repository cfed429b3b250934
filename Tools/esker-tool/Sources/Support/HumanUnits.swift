import Esker

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
    return "\(NumberText.significant(value)) \(unit)"
  }

  /// `1 entry`, `2,000 entries`.
  static func entries(_ number: Int) -> String {
    number == 1 ? "1 entry" : "\(NumberText.count(number)) entries"
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
