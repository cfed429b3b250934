import TextTable

/// Rows under titles, written as they come, with a bounded part of them in memory.
///
/// On a terminal, columns are aligned; where the terminal is too narrow for them, each row becomes a block of lines with a
/// title each, so that nothing is cut off. In a pipe a row is a line with a tab between cells, after a line of the titles.
///
/// Text of the user's stands in the last column, where characters of any width can push nothing out of line.
struct Table {
  struct Column {
    let title: String
    let alignment: Alignment

    static func left(_ title: String) -> Column { Column(title: title, alignment: .left) }
    static func right(_ title: String) -> Column { Column(title: title, alignment: .right) }
  }

  private let columns: [Column]
  private let terminal: Terminal
  private var rows: [[Cell]] = []
  private var widths: [Int]
  private var hasTitles = false

  /// Rows that are looked at together for the widths of the columns.
  private static let rowsTogether = 1000

  init(_ columns: [Column], in terminal: Terminal) {
    self.columns = columns
    self.terminal = terminal
    widths = columns.map(\.title.utf16.count)
  }

  /// Takes a row, with a cell for each column, and writes what is due.
  mutating func add(_ row: [Cell], to output: inout BufferedOutput) throws(ToolError) {
    rows.append(row)
    if rows.count == Self.rowsTogether { try flush(to: &output) }
  }

  /// Writes the rows that were not yet, and the titles if there was none.
  mutating func flush(to output: inout BufferedOutput) throws(ToolError) {
    try output.write(text())
    rows.removeAll(keepingCapacity: true)
    hasTitles = true
  }

  private mutating func text() -> String {
    guard let width = terminal.columns else { return separated() }
    for row in rows {
      // The library pads by units of UTF-16 and would cut a character that is two of them.
      for (index, cell) in row.enumerated() { widths[index] = max(widths[index], cell.shown.utf16.count) }
    }
    let needed = widths.reduce(0, +) + 2 * (widths.count - 1)
    return needed <= width ? aligned() : stacked(width)
  }

  private func separated() -> String {
    var text = hasTitles ? "" : columns.map(\.title).joined(separator: "\t") + "\n"
    for row in rows { text += row.map(\.plain).joined(separator: "\t") + "\n" }
    return text
  }

  private func aligned() -> String {
    let titles = columns.map { Cell.word($0.title, .heading) }
    return alignedLines(
      hasTitles ? rows : [titles] + rows,
      columns: zip(columns, widths).map { ($0.alignment, $1) },
      in: terminal
    )
  }

  private func stacked(_ width: Int) -> String {
    var text = ""
    for (index, row) in rows.enumerated() {
      if hasTitles || index > 0 { text += "\n" }
      text += Pairs(zip(columns, row).map { ($0.title, $1) }).text(in: terminal)
    }
    return text
  }
}
