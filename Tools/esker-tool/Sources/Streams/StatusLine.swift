/// A line on standard error that is repeatedly overwritten, at most ten times a second.
final class StatusLine {
  private var width = 0
  private var shown: ContinuousClock.Instant?

  /// Whether enough time has passed to show the next state.
  var isDue: Bool { shown.map { ContinuousClock.now - $0 >= .milliseconds(100) } ?? true }

  func show(_ text: @autoclosure () -> String) {
    guard isDue else { return }
    shown = .now
    // A line wrapped by the terminal could not be overwritten.
    let text = Self.fitted(text(), width: max(1, (Terminal.errors.columns ?? 80) - 1))
    StandardError.write("\r" + text + String(repeating: " ", count: max(0, width - text.count)))
    width = text.count
  }

  /// As many whole parts of the text as the width allows: half a number would be another one.
  static func fitted(_ text: String, width: Int) -> String {
    var parts = text.split(separator: ", ")[...]
    while parts.count > 1, parts.reduce(2 * (parts.count - 1), { $0 + $1.count }) > width { parts.removeLast() }
    return String(parts.joined(separator: ", ").prefix(width))
  }

  /// Clears the line, so that something else can be written.
  func clear() {
    guard width > 0 else { return }
    StandardError.write("\r" + String(repeating: " ", count: width) + "\r")
    width = 0
  }
}
