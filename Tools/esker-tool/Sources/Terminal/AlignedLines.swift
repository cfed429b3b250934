import TextTable

/// The alignment of a cell in its column.
enum Side {
  case left, right

  fileprivate var alignment: Alignment { self == .left ? .left : .right }
}

/// Lines of cells aligned in columns, separated by two spaces, without trailing space.
func alignedLines(
  _ rows: [[Cell]],
  columns: [(side: Side, width: Int)],
  in terminal: Terminal
) -> String {
  let table = TextTable<[Cell]> { row in
    zip(row, columns).map { cell, column in
      Column(title: "", value: cell.shown, width: column.width, align: column.side.alignment)
    }
  }
  guard let text = table.string(for: rows, style: BareStyle.self) else { return "" }
  return zip(rows, text.split(separator: BareStyle.lineEnd)).reduce(into: "") { result, line in
    let cells = line.1.split(separator: BareStyle.cellEnd, omittingEmptySubsequences: false)
    // Color is added after padding: the library counts control sequences as text.
    let text = zip(line.0, cells).enumerated().map { index, cell in
      let padded = index == columns.count - 1 ? cell.0.shown : String(cell.1)
      return cell.0.paint?(padded, in: terminal) ?? padded
    }
    result += text.joined(separator: "  ") + "\n"
  }
}

/// Padded cells and nothing else, for ``alignedLines(_:columns:in:)`` to put together.
///
/// The separators are control characters, which never occur in a cell.
private enum BareStyle: TextTableStyle {
  static let cellEnd: Character = "\u{1F}"
  static let lineEnd: Character = "\u{1E}"

  static func prepare(_ text: String, for column: Column) -> String { Plain.prepare(text, for: column) }
  static func escape(_ text: String) -> String { text }
  static func begin(_ table: inout String, index: Int, columns: [Column]) {}
  static func end(_ table: inout String, index: Int, columns: [Column]) {}
  static func header(_ table: inout String, index: Int, columns: [Column]) {}

  static func row(_ table: inout String, index: Int, columns: [Column]) {
    table += columns.map { $0.string(for: self) }.joined(separator: String(cellEnd)) + String(lineEnd)
  }
}
