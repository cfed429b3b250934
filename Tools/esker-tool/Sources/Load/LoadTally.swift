/// The totals of a load so far.
struct LoadTally {
  /// How many invalid lines are reported individually.
  static let reportedLines = 10

  var records = 0
  var bytes = 0
  var skipped = 0
  var replaced = 0
  var expired = 0
  /// Records stored by an earlier load that this one resumes.
  var earlier = 0

  /// One line: `loaded 21,858 records (11.5 MB) in 0.21 s: 104,086 records/s, 54.9 MB/s; 3 replaced; 1 bad line skipped`.
  func summary(seconds: Double) -> String {
    let time = max(seconds, 1e-6)
    var text = "loaded \(HumanUnits.count(records, "record")) (\(HumanUnits.bytes(bytes)))"
    text += " in \(HumanUnits.fixed(seconds, 3)) s: \(HumanUnits.count(Int(Double(records) / time))) records/s, "
    text += "\(HumanUnits.fixed(Double(bytes) / time / 1e6, 1)) MB/s"
    if earlier > 0 { text += "; \(HumanUnits.count(earlier)) earlier" }
    if replaced > 0 { text += "; \(HumanUnits.count(replaced)) replaced" }
    if expired > 0 { text += "; \(HumanUnits.count(expired)) expired" }
    if skipped > 0 { text += "; \(HumanUnits.count(skipped, "bad line")) skipped" }
    return text
  }

  func report(seconds: Double, asJSON: Bool, isQuiet: Bool) throws(ToolError) {
    try reportDone(summary(seconds: seconds), asJSON: asJSON, isQuiet: isQuiet) { writer in
      writer.fields([
        "records": records, "bytes": bytes, "earlier": earlier, "replaced": replaced, "expired": expired,
        "skipped": skipped,
      ])
      writer.field("seconds", seconds)
    }
  }
}
