import Esker

/// The progress of a long operation: share, rate and time left, on standard error if that is a terminal.
final class Progress {
  private let action: String
  private let noun: String?
  /// The total amount, if known.
  private let total: Int?
  private let status: StatusLine?
  private let start = ContinuousClock.now
  private var calls = 0

  /// - Parameters:
  ///   - action: What is being done, as in "checking".
  ///   - noun: What is counted; nil for bytes.
  ///   - isQuiet: Whether to show nothing.
  init(_ action: String, of noun: String? = nil, total: Int? = nil, isQuiet: Bool = false) {
    self.action = action
    self.noun = noun
    self.total = total
    status = StandardError.isTerminal && !isQuiet ? StatusLine() : nil
  }

  deinit { clear() }

  /// Updates the progress from small steps; only checks the clock every so often.
  ///
  /// - Parameter position: The amount done of the total, if that is not `done`.
  func step(_ done: Int, at position: Int? = nil) {
    guard status != nil else { return }
    calls &+= 1
    if calls & 255 == 0 { update(done: done, at: position) }
  }

  /// Shows the share done, from 0 to 1.
  func update(_ share: Double) {
    show(done(share), share: share)
  }

  /// Shows the share done, from 0 to 1; false if the operation is to stop.
  func goesOn(_ share: Double) -> Bool {
    update(share)
    return !Interruption.isRequested
  }

  /// Shows the amount done.
  func update(done: Int, at position: Int? = nil) {
    show(done, share: total.map { $0 > 0 ? min(1, Double(position ?? done) / Double($0)) : 1 })
  }

  /// Removes the line.
  func clear() {
    status?.clear()
  }

  func text(share: Double, seconds: Double) -> String {
    text(done(share), share: share, seconds: seconds)
  }

  func text(_ done: Int, share: Double?, seconds: Double) -> String {
    var text = action
    if let share { text += " \(NumberText.fixed(share * 100, 0)) %" }
    if done > 0 { text += ", \(amount(Int(Double(done) / max(seconds, 1e-6))))/s" }
    if let share {
      if share > 0 { text += ", \(HumanUnits.duration(seconds: seconds / share - seconds)) left" }
    } else if done > 0 {
      text += ", \(amount(done))"
    }
    return text
  }

  private func amount(_ number: Int) -> String {
    noun.map { "\(NumberText.count(number)) \($0)" } ?? HumanUnits.bytes(number)
  }

  private func done(_ share: Double) -> Int { Int(Double(total ?? 0) * share) }

  private func show(_ done: Int, share: Double?) {
    guard let status, status.isDue else { return }
    let seconds = (ContinuousClock.now - start).seconds
    guard seconds >= 1 else { return }
    status.show(text(done, share: share, seconds: seconds))
  }
}
