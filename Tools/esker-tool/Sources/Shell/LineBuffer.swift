/// A line that is being edited.
struct LineBuffer: Equatable {
  private(set) var characters: [Character] = []
  /// The place of the cursor: before the character of that number.
  private(set) var cursor = 0
  /// What was cut last.
  private var cut: [Character] = []

  init(_ text: String = "") {
    characters = Array(text)
    cursor = characters.count
  }

  var text: String { String(characters) }

  var isEmpty: Bool { characters.isEmpty }

  mutating func insert(_ text: String) {
    let before = String(characters[..<cursor]) + text
    // A mark that belongs to the letter before it joins it.
    let joined = Array(before)
    characters = joined + characters[cursor...]
    cursor = joined.count
  }

  /// Replaces what is from `start` to the cursor.
  mutating func replace(from start: Int, with text: String) {
    characters.removeSubrange(start..<cursor)
    cursor = start
    insert(text)
  }

  mutating func move(by steps: Int) { cursor = min(max(0, cursor + steps), characters.count) }
  mutating func moveToStart() { cursor = 0 }
  mutating func moveToEnd() { cursor = characters.count }
  mutating func moveWordBack() { cursor = wordStart }
  mutating func moveWordOn() { cursor = wordEnd }

  mutating func deleteBack() {
    guard cursor > 0 else { return }
    cursor -= 1
    characters.remove(at: cursor)
  }

  mutating func deleteNext() {
    if cursor < characters.count { characters.remove(at: cursor) }
  }

  mutating func cutToEnd() { cut(cursor..<characters.count) }
  mutating func cutToStart() { cut(0..<cursor) }
  mutating func cutWordBack() { cut(wordStart..<cursor) }
  mutating func cutWordOn() { cut(cursor..<wordEnd) }

  /// Puts in what was cut last.
  mutating func paste() { insert(String(cut)) }

  private mutating func cut(_ range: Range<Int>) {
    guard !range.isEmpty else { return }
    cut = Array(characters[range])
    characters.removeSubrange(range)
    cursor = range.lowerBound
  }

  private var wordStart: Int {
    var place = cursor
    while place > 0, characters[place - 1].isWhitespace { place -= 1 }
    while place > 0, !characters[place - 1].isWhitespace { place -= 1 }
    return place
  }

  private var wordEnd: Int {
    var place = cursor
    while place < characters.count, characters[place].isWhitespace { place += 1 }
    while place < characters.count, !characters[place].isWhitespace { place += 1 }
    return place
  }
}
