/// The alignment of a cell in its column.
enum Side {
  case left, right
}

/// Lines of cells aligned in columns, separated by two spaces, without space behind the last cell.
func alignedLines(
  _ rows: [[Cell]],
  columns: [(side: Side, width: Int)],
  in terminal: Terminal
) -> String {
  rows.reduce(into: "") { result, row in
    let cells = zip(row, columns).enumerated().map { index, pair in
      let (cell, column) = pair
      var text = cell.shown
      if index < columns.count - 1 {
        let space = String(repeating: " ", count: max(0, column.width - text.columns))
        text = column.side == .left ? text + space : space + text
      }
      return cell.paint?(text, in: terminal) ?? text
    }
    result += cells.joined(separator: "  ") + "\n"
  }
}
