import Esker

/// The totals of a load so far.
struct LoadTally {
  var records = 0
  var bytes = 0
  var skipped = 0
  var replaced = 0
  var expired = 0
  /// Records left out as the store has their keys.
  var kept = 0
  /// How many there were of each kind that is not loaded.
  var notTaken: [String: Int] = [:]
  /// Records stored by an earlier load that this one resumes.
  var earlier = 0

  /// Counts an invalid line, or ends the load.
  ///
  /// - Parameter unit: What a line is called.
  /// - Throws: ``ToolError/badLine(number:why:unit:)`` unless such lines are skipped.
  mutating func refuse(
    _ number: Int,
    _ why: String,
    _ unit: String,
    _ plan: LoadPlan,
    _ progress: Progress
  ) throws(ToolError) {
    let error = ToolError.badLine(number: number, why: why, unit: unit)
    guard plan.skipsBadLines else { throw error }
    skipped += 1
    guard skipped <= plan.reportedLines else { return }
    progress.clear()
    StandardError.report(error.description)
  }

  /// One line: `loaded 21,858 records (11.5 MB) in 0.21 s: 104,086 records/s, 54.9 MB/s; 3 replaced; 1 bad line skipped`.
  func summary(seconds: Double, isDryRun: Bool = false) -> String {
    let time = max(seconds, 1e-6)
    var text =
      "\(isDryRun ? "would load" : "loaded") \(NumberText.count(records, "record")) (\(HumanUnits.bytes(bytes)))"
    text += " in \(NumberText.fixed(seconds, 3)) s: \(NumberText.count(Int(Double(records) / time))) records/s, "
    text += "\(NumberText.fixed(Double(bytes) / time / 1e6, 1)) MB/s"
    if earlier > 0 { text += "; \(NumberText.count(earlier)) earlier" }
    if replaced > 0 { text += "; \(NumberText.count(replaced)) replaced" }
    if expired > 0 { text += "; \(NumberText.count(expired)) expired" }
    if skipped > 0 { text += "; \(NumberText.count(skipped, "bad line")) skipped" }
    if kept > 0 { text += "; \(NumberText.count(kept)) there already" }
    if !notTaken.isEmpty {
      let kinds = notTaken.sorted { $0.key < $1.key }.map { NumberText.count($0.value, $0.key) }
      text += "; not loaded: \(kinds.joined(separator: ", "))"
    }
    return text
  }

  func report(seconds: Double, asJSON: Bool, isQuiet: Bool, isDryRun: Bool = false) throws(ToolError) {
    try reportDone(summary(seconds: seconds, isDryRun: isDryRun), asJSON: asJSON, isQuiet: isQuiet) { writer in
      writer.fields([
        "records": records, "bytes": bytes, "earlier": earlier, "replaced": replaced, "expired": expired,
        "skipped": skipped, "kept": kept, "notTaken": notTaken.values.reduce(0, +),
      ])
      writer.field("seconds", seconds)
    }
  }
}
