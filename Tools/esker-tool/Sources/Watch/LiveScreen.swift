import Foundation

/// Lines on a terminal that are repeatedly overwritten.
///
/// They are written at the cursor, without an alternate screen, another terminal mode or a hidden cursor: however the
/// program ends, even by SIGKILL, there is nothing to restore.
struct LiveScreen: ~Copyable {
  private var output = BufferedOutput.standard()
  /// The number of lines above the cursor.
  private var shown = 0

  /// Whether standard output is a terminal capable of this.
  static var isPossible: Bool {
    isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM", default: "dumb"] != "dumb"
  }

  /// Shows the lines, the first in bold, cut to the current size of the terminal.
  mutating func show(_ lines: [String]) throws(ToolError) {
    let size = Terminal.size(of: STDOUT_FILENO) ?? (columns: 80, rows: 24)
    var text = shown > 0 ? "\u{1B}[\(shown)A" : ""
    // Lines wider than a terminal that has become narrower wrap by now: clear everything below.
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
