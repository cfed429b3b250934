/// Shows how far a load is, if somebody watches.
struct LoadProgress {
  private let status = StandardError.isTerminal ? StatusLine() : nil
  /// Bytes there are to load, if it is known.
  var totalBytes: Int?

  private let start = ContinuousClock.now
  private var calls = 0

  /// Called after every line: looks at the clock only every so often.
  mutating func update(records: Int, bytes: Int) {
    guard let status else { return }
    calls &+= 1
    guard calls & 255 == 0, status.isDue else { return }
    status.show(text(records, bytes, (ContinuousClock.now - start).seconds))
  }

  func clear() {
    status?.clear()
  }

  func text(_ records: Int, _ bytes: Int, _ seconds: Double) -> String {
    let rate = Double(records) / max(seconds, 1e-6)
    var text =
      "\(HumanUnits.count(records)) records, \(HumanUnits.bytes(bytes)), \(HumanUnits.count(Int(rate))) records/s"
    if let totalBytes, totalBytes > 0, bytes > 0 {
      let share = min(1, Double(bytes) / Double(totalBytes))
      text += ", \(HumanUnits.fixed(share * 100, 0)) %"
      text += ", \(HumanUnits.duration(seconds: seconds / share - seconds)) left"
    }
    return text
  }
}
