/// Rows under titles, written as they come, with a bounded part of them in memory.
///
/// On a terminal, columns are aligned. Where it is too narrow for them, optional columns are left out, the last one first; if
/// that is not enough, each row becomes a block of lines with a title each. In a pipe a row is a line with a tab between cells,
/// after a line of the titles, and has all columns.
///
/// Text of the user's stands in the last column, where characters of any width can push nothing out of line, and which may go
/// on in the terminal's next line.
struct Table {
  struct Column {
    let title: String
    let side: Side
    let isOptional: Bool

    static func left(_ title: String, isOptional: Bool = false) -> Column {
      Column(title: title, side: .left, isOptional: isOptional)
    }

    static func right(_ title: String, isOptional: Bool = false) -> Column {
      Column(title: title, side: .right, isOptional: isOptional)
    }
  }

  private let columns: [Column]
  private let terminal: Terminal
  private var rows: [[Cell]] = []
  private var widths: [Int]
  private var hasTitles = false
  /// The columns that the terminal has room for, settled by the first rows.
  private var shown: [Int]?

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
    if shown == nil { shown = fitting(width) }
    guard let shown, needed(shown) <= width else { return stacked(width) }
    return aligned(shown)
  }

  /// The columns to show: optional ones only as far as there is room.
  private func fitting(_ width: Int) -> [Int] {
    var shown = Array(columns.indices)
    while needed(shown) > width, let last = shown.last(where: { columns[$0].isOptional }) {
      shown.removeAll { $0 == last }
    }
    return shown
  }

  /// The width of some columns, of the last one only as much as makes it readable.
  private func needed(_ shown: [Int]) -> Int {
    let last = shown.last.map { min(widths[$0], max(columns[$0].title.count, 12)) } ?? 0
    return shown.dropLast().reduce(last) { $0 + widths[$1] + 2 }
  }

  private func separated() -> String {
    var text = hasTitles ? "" : columns.map(\.title).joined(separator: "\t") + "\n"
    for row in rows { text += row.map(\.plain).joined(separator: "\t") + "\n" }
    return text
  }

  private func aligned(_ shown: [Int]) -> String {
    let titles = columns.map { Cell.word($0.title, .heading) }
    return alignedLines(
      (hasTitles ? rows : [titles] + rows).map { row in shown.map { row[$0] } },
      columns: shown.map { (columns[$0].side, widths[$0]) },
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
