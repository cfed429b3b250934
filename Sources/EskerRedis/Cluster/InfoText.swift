#if Redis
  /// The lines `name:value` of INFO, CLUSTER INFO and CLIENT INFO.
  struct InfoText: Sendable {
    private var values: [Substring: Substring] = [:]

    /// Lines of INFO.
    init(lines text: String) {
      for line in text.split(whereSeparator: \.isNewline) where !line.hasPrefix("#") { note(line, ":") }
    }

    /// Words `name=value` of CLIENT INFO.
    init(words text: String) {
      for word in text.split(whereSeparator: \.isWhitespace) { note(word, "=") }
    }

    private mutating func note(_ text: Substring, _ separator: Character) {
      guard let end = text.firstIndex(of: separator) else { return }
      values[text[..<end]] = text[text.index(after: end)...]
    }

    subscript(_ name: String) -> String? { values[name[...]].map(String.init) }

    func number(_ name: String) -> UInt64? { values[name[...]].flatMap { UInt64($0) } }
  }
#endif
