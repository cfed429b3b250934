/// How far something is that takes more than a second: share, rate and time left, on standard error if that is a terminal.
final class Progress {
  private let action: String
  /// How many bytes there are to work through, if the rate is to be shown.
  private let bytes: Int?
  private let status: StatusLine?
  private let start = ContinuousClock.now

  /// - Parameter action: what is being done, as in "checking".
  init(_ action: String, bytes: Int? = nil) {
    self.action = action
    self.bytes = bytes
    status = StandardError.isTerminal ? StatusLine() : nil
  }

  /// Shows that a share, from 0 to 1, is done.
  func update(_ share: Double) {
    guard let status, status.isDue else { return }
    let seconds = (ContinuousClock.now - start).seconds
    guard seconds >= 1 else { return }
    status.show(text(share: share, seconds: seconds))
  }

  /// Takes the line away.
  func clear() {
    status?.clear()
  }

  func text(share: Double, seconds: Double) -> String {
    var text = "\(action) \(HumanUnits.fixed(share * 100, 0)) %"
    if let bytes { text += ", \(HumanUnits.bytes(Int(Double(bytes) * share / max(seconds, 1e-6))))/s" }
    if share > 0 { text += ", \(HumanUnits.duration(seconds: seconds / share - seconds)) left" }
    return text
  }
}
