/// Takes a line apart into words, as a shell does: spaces separate, `'...'` and `"..."` keep them, a backslash takes the next
/// character as it is. Nothing is expanded.
struct ShellWords {
  /// The words, the last one as far as it goes.
  private(set) var words: [String] = []
  /// Where the last word begins in the line, which is its end after a space.
  private(set) var lastStart = 0
  /// Whether the line ends within quotes, or after a backslash.
  private(set) var isOpen = false

  init(_ line: [Character]) {
    var word: String?
    var quote: Character?
    var isEscaped = false
    for (place, character) in line.enumerated() {
      if word == nil, !character.isWhitespace {
        word = ""
        lastStart = place
      }
      if isEscaped {
        // Within double quotes, only what would end them is escaped.
        if quote == "\"", character != "\"", character != "\\" { word?.append("\\") }
        word?.append(character)
        isEscaped = false
      } else if character == "\\", quote != "'" {
        isEscaped = true
      } else if let open = quote {
        if character == open { quote = nil } else { word?.append(character) }
      } else if character == "'" || character == "\"" {
        quote = character
      } else if character.isWhitespace {
        if let word { words.append(word) }
        word = nil
      } else {
        word?.append(character)
      }
    }
    if word == nil { lastStart = line.count }
    words.append(word ?? "")
    isOpen = quote != nil || isEscaped
  }

  /// The words of a whole line.
  static func split(_ line: String) throws(ToolError) -> [String] {
    let split = ShellWords(Array(line))
    if split.isOpen { throw .openQuote }
    // A space at the end begins no word.
    return split.lastStart == line.count ? split.words.dropLast() : split.words
  }

  /// The word as it has to be typed.
  static func typed(_ word: String) -> String {
    word.reduce(into: "") { text, character in
      if character.isWhitespace || "'\"\\".contains(character) { text.append("\\") }
      text.append(character)
    }
  }
}
