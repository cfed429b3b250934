/// The style of a piece of text, where color is possible.
enum Paint: String {
  case heading = "1"
  case faint = "2"
  case bad = "31"
  case good = "32"

  /// The text with its control sequences, or unchanged without color.
  func callAsFunction(_ text: String, in terminal: Terminal) -> String {
    terminal.showsColor && !text.isEmpty ? "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" : text
  }
}
