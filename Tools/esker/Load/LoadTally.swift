/// What a load has done so far.
struct LoadTally {
  /// How many lines that cannot be loaded are reported one by one.
  static let reportedLines = 10

  var records = 0
  var bytes = 0
  var skipped = 0
  var replaced = 0

  /// One line: `loaded 21,858 records (11.5 MB) in 0.21 s: 104,086 records/s, 54.9 MB/s; 3 replaced; 1 bad line skipped`.
  func summary(seconds: Double) -> String {
    let time = max(seconds, 1e-6)
    var text = "loaded \(HumanUnits.count(records, "record")) (\(HumanUnits.bytes(bytes)))"
    text += " in \(HumanUnits.fixed(seconds, 3)) s: \(HumanUnits.count(Int(Double(records) / time))) records/s, "
    text += "\(HumanUnits.fixed(Double(bytes) / time / 1e6, 1)) MB/s"
    if replaced > 0 { text += "; \(HumanUnits.count(replaced)) replaced" }
    if skipped > 0 { text += "; \(HumanUnits.count(skipped, "bad line")) skipped" }
    return text
  }
}
