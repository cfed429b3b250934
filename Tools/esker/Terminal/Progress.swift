/// How far something is that takes more than a second: share, rate and time left, on standard error if that is a terminal.
final class Progress {
  /// What is counted.
  enum Unit {
    case bytes
    case named(String)
  }

  private let action: String
  private let unit: Unit
  /// How much there is to do, if it is known.
  private let total: Int?
  private let status: StatusLine?
  private let start = ContinuousClock.now
  private var calls = 0

  /// - Parameters:
  ///   - action: what is being done, as in "checking".
  ///   - isQuiet: shows nothing.
  init(_ action: String, of unit: Unit = .bytes, total: Int? = nil, isQuiet: Bool = false) {
    self.action = action
    self.unit = unit
    self.total = total
    status = StandardError.isTerminal && !isQuiet ? StatusLine() : nil
  }

  /// - Parameter bytes: how many there are to work through, if the rate is to be shown.
  convenience init(_ action: String, bytes: Int?, isQuiet: Bool = false) {
    self.init(action, of: .bytes, total: bytes, isQuiet: isQuiet)
  }

  deinit { clear() }

  /// For work of small steps: looks at the clock only every so often.
  ///
  /// - Parameter position: how much of the total is done, if that is not `done`.
  func step(_ done: Int, at position: Int? = nil) {
    guard status != nil else { return }
    calls &+= 1
    if calls & 255 == 0 { update(done: done, at: position) }
  }

  /// Shows that a share, from 0 to 1, is done.
  func update(_ share: Double) {
    show(done(share), share: share)
  }

  /// Shows that so much is done.
  func update(done: Int, at position: Int? = nil) {
    show(done, share: total.map { $0 > 0 ? min(1, Double(position ?? done) / Double($0)) : 1 })
  }

  /// Takes the line away.
  func clear() {
    status?.clear()
  }

  func text(share: Double, seconds: Double) -> String {
    text(done(share), share: share, seconds: seconds)
  }

  func text(_ done: Int, share: Double?, seconds: Double) -> String {
    var text = action
    if let share { text += " \(HumanUnits.fixed(share * 100, 0)) %" }
    let rate = Int(Double(done) / max(seconds, 1e-6))
    switch unit {
    case _ where done == 0: break
    case .bytes: text += ", \(HumanUnits.bytes(rate))/s"
    case .named(let name): text += ", \(HumanUnits.count(rate)) \(name)/s"
    }
    if let share {
      if share > 0 { text += ", \(HumanUnits.duration(seconds: seconds / share - seconds)) left" }
    } else if done > 0 {
      switch unit {
      case .bytes: text += ", \(HumanUnits.bytes(done))"
      case .named(let name): text += ", \(HumanUnits.count(done)) \(name)"
      }
    }
    return text
  }

  private func done(_ share: Double) -> Int { Int(Double(total ?? 0) * share) }

  private func show(_ done: Int, share: Double?) {
    guard let status, status.isDue else { return }
    let seconds = (ContinuousClock.now - start).seconds
    guard seconds >= 1 else { return }
    status.show(text(done, share: share, seconds: seconds))
  }
}
