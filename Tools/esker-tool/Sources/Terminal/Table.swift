/// A table with a header, written as rows arrive, with only a bounded number of them in memory.
///
/// On a terminal, columns are aligned. If it is too narrow, optional columns are left out, last one first; if that is not
/// enough, each row becomes a block of lines, each with a title. In a pipe a row is a line with tabs between all of its
/// cells, after a line of titles.
///
/// User text goes into the last column, where characters of any width cannot misalign anything, and which may wrap.
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
  /// The columns that fit the terminal, determined by the first rows.
  private var shown: [Int]?

  /// The number of rows considered together for the column widths.
  private static let rowsTogether = 1000

  init(_ columns: [Column], in terminal: Terminal) {
    self.columns = columns
    self.terminal = terminal
    widths = columns.map(\.title.columns)
  }

  /// Adds a row, with a cell for each column, and writes rows once there are enough.
  mutating func add(_ row: [Cell], to output: inout BufferedOutput) throws(ToolError) {
    rows.append(row)
    if rows.count == Self.rowsTogether { try flush(to: &output) }
  }

  /// Writes a table under a heading; nothing without rows.
  static func write<Rows: Collection>(
    _ heading: String,
    _ columns: [Column],
    to output: inout BufferedOutput,
    _ rows: Rows,
    _ cells: (Rows.Element) -> [Cell]
  ) throws(ToolError) {
    guard !rows.isEmpty else { return }
    try output.write("\n" + Paint.heading(heading, in: .output) + "\n")
    var table = Table(columns, in: .output)
    for row in rows { try table.add(cells(row), to: &output) }
    try table.flush(to: &output)
  }

  /// Writes the remaining rows, with the titles if not written yet.
  mutating func flush(to output: inout BufferedOutput) throws(ToolError) {
    try output.write(text())
    rows.removeAll(keepingCapacity: true)
    hasTitles = true
  }

  private mutating func text() -> String {
    guard let width = terminal.columns else { return separated() }
    for row in rows {
      for (index, cell) in row.enumerated() { widths[index] = max(widths[index], cell.shown.columns) }
    }
    if shown == nil { shown = fitting(width) }
    guard let shown, needed(shown) <= width else { return stacked() }
    return aligned(shown)
  }

  /// The columns to show: optional ones only if there is room.
  private func fitting(_ width: Int) -> [Int] {
    var shown = Array(columns.indices)
    while needed(shown) > width, let last = shown.last(where: { columns[$0].isOptional }) {
      shown.removeAll { $0 == last }
    }
    return shown
  }

  /// The width that some columns need; for the last one, only enough to be readable.
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

  private func stacked() -> String {
    var text = ""
    for (index, row) in rows.enumerated() {
      if hasTitles || index > 0 { text += "\n" }
      text += Pairs(zip(columns, row).map { ($0.title, $1) }).text(in: terminal)
    }
    return text
  }
}
