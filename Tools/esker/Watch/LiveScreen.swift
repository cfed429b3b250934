import Foundation

/// Some lines on a terminal that are written over again and again.
///
/// They are written where the cursor is, without another screen, another mode of the terminal or a hidden cursor: whatever
/// ends the program, and be it a SIGKILL, there is nothing to restore.
struct LiveScreen: ~Copyable {
  private var output = BufferedOutput.standard()
  /// Lines that the cursor is below of.
  private var shown = 0

  /// Whether standard output is a terminal that can do this.
  static var isPossible: Bool {
    isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM", default: "dumb"] != "dumb"
  }

  /// Shows the lines, the first in bold, cut to what the terminal has now.
  mutating func show(_ lines: [String]) throws(ToolError) {
    let size = Terminal.size(of: STDOUT_FILENO) ?? (columns: 80, rows: 24)
    var text = shown > 0 ? "\u{1B}[\(shown)A" : ""
    // What was wider than a terminal that got narrower stands on two lines by now: everything below goes.
    text += "\r\u{1B}[J"
    shown = 0
    for line in lines.prefix(max(1, size.rows - 1)) {
      let line = line.prefix(max(1, size.columns - 1))
      text += (shown == 0 ? Paint.heading(String(line), in: .output) : String(line)) + "\n"
      shown += 1
    }
    try output.write(text)
    try output.flush()
  }
}
