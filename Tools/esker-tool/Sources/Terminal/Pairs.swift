/// Titles and values, one pair per line.
struct Pairs {
  private var pairs: [(title: String, value: Cell)]

  init(_ pairs: [(title: String, value: Cell)] = []) {
    self.pairs = pairs
  }

  mutating func add(_ title: String, _ value: Cell) {
    pairs.append((title, value))
  }

  /// The lines, aligned even in a pipe, where a script finds a figure by its title; programs should use `--json`.
  ///
  /// If a line would be longer than the terminal is wide, the value gets a line of its own.
  func text(in terminal: Terminal) -> String {
    var pairs = pairs
    if terminal.columns == nil {
      for index in pairs.indices where pairs[index].value.isPlainInPipes {
        pairs[index].value = .word(pairs[index].value.plain)
      }
    }
    let titleWidth = pairs.reduce(0) { max($0, $1.title.columns) }
    let valueWidth = pairs.reduce(1) { max($0, $1.value.shown.columns) }
    if let width = terminal.columns, titleWidth + 2 + valueWidth > width, titleWidth > width / 2 {
      return pairs.reduce(into: "") { text, pair in
        text += Paint.heading(pair.title, in: terminal) + "\n  "
        text += (pair.value.paint?(pair.value.shown, in: terminal) ?? pair.value.shown) + "\n"
      }
    }
    return alignedLines(
      pairs.map { [.word($0.title, terminal.showsColor ? .heading : nil), $0.value] },
      columns: [(.left, titleWidth), (.left, valueWidth)],
      in: terminal
    )
  }
}
