import Foundation

/// Reads lines from a terminal and lets them be edited, with a history and completion.
///
/// The terminal is in another mode only while a line is read: a command finds it as usual.
struct LineEditor {
  /// What is read.
  enum Line: Equatable {
    case text(String)
    /// Ctrl-C: the line was given up.
    case abandoned
    /// Ctrl-D in an empty line.
    case end
  }

  var prompt: String
  private var history: LineHistory
  private let complete: ([Character]) -> LineCompletion
  private var keys = KeyParser()
  private var buffer = LineBuffer()
  /// The place in the history; its end is the new line.
  private var place = 0
  /// The new line, while an older one is shown.
  private var newest = ""

  init(prompt: String, _ history: LineHistory, _ complete: @escaping ([Character]) -> LineCompletion) {
    self.prompt = prompt
    self.history = history
    self.complete = complete
  }

  /// Whether standard input and output are a terminal capable of this.
  static var isPossible: Bool { isatty(STDIN_FILENO) == 1 && LiveScreen.isPossible }

  /// - Throws: ``ToolError/interrupted(signal:)``; what reading and writing throw.
  mutating func read() throws(ToolError) -> Line {
    guard let mode = SystemCalls.terminalMode(of: STDIN_FILENO) else { return .end }
    SystemCalls.setTerminalMode(SystemCalls.keyMode(from: mode), of: STDIN_FILENO)
    defer { SystemCalls.setTerminalMode(mode, of: STDIN_FILENO) }
    buffer = LineBuffer()
    place = history.lines.count
    try draw()
    while true {
      while let key = keys.next() {
        if let line = try handle(key) { return line }
      }
      try Interruption.waitReadable(STDIN_FILENO)
      var bytes = [UInt8](repeating: 0, count: 4096)
      let (count, code) = SystemCalls.read(STDIN_FILENO, into: &bytes, from: 0)
      if count == 0 || count < 0 && code != EINTR { return .end }
      keys.add(bytes.prefix(max(0, count)))
    }
  }

  private mutating func handle(_ key: TypedKey) throws(ToolError) -> Line? {
    switch key {
    case .enter:
      buffer.moveToEnd()
      try draw()
      try BufferedOutput.print("\n")
      history.add(buffer.text)
      return .text(buffer.text)
    case .control("c"):
      try BufferedOutput.print("^C\n")
      return .abandoned
    case .control("d") where buffer.isEmpty:
      try BufferedOutput.print("\n")
      return .end
    case .tab: try completeWord()
    case .control("l"): try BufferedOutput.print("\u{1B}[H\u{1B}[2J")
    case .up, .control("p"): recall(place - 1)
    case .down, .control("n"): recall(place + 1)
    default: Self.edit(&buffer, key)
    }
    try draw()
    return nil
  }

  /// What keys do to a line, as in readline and Emacs.
  static func edit(_ buffer: inout LineBuffer, _ key: TypedKey) {
    switch key {
    case .text(let text): buffer.insert(text)
    case .backspace: buffer.deleteBack()
    case .delete, .control("d"): buffer.deleteNext()
    case .left, .control("b"): buffer.move(by: -1)
    case .right, .control("f"): buffer.move(by: 1)
    case .home, .control("a"): buffer.moveToStart()
    case .end, .control("e"): buffer.moveToEnd()
    case .wordLeft, .alt("b"): buffer.moveWordBack()
    case .wordRight, .alt("f"): buffer.moveWordOn()
    case .control("k"): buffer.cutToEnd()
    case .control("u"): buffer.cutToStart()
    case .control("w"), .alt("\u{8}"): buffer.cutWordBack()
    case .alt("d"): buffer.cutWordOn()
    case .control("y"): buffer.paste()
    default: break
    }
  }

  private mutating func recall(_ target: Int) {
    guard target >= 0, target <= history.lines.count else { return }
    if place == history.lines.count { newest = buffer.text }
    place = target
    buffer = LineBuffer(target == history.lines.count ? newest : history.lines[target])
  }

  private mutating func completeWord() throws(ToolError) {
    let completion = complete(Array(buffer.characters[..<buffer.cursor]))
    let typed = String(buffer.characters[completion.start..<buffer.cursor])
    if let replacement = completion.replacement, replacement != typed {
      return buffer.replace(from: completion.start, with: replacement)
    }
    guard completion.candidates.count > 1 else { return }
    try BufferedOutput.print("\n" + Self.columns(completion.candidates, completion.isPartial, width: width))
  }

  /// Words side by side, as many as fit.
  static func columns(_ words: [String], _ isPartial: Bool, width: Int) -> String {
    let pitch = (words.map(\.columns).max() ?? 0) + 2
    let perLine = max(1, width / pitch)
    var text = ""
    for (index, word) in words.enumerated() {
      text += word
      let isLast = (index + 1).isMultiple(of: perLine) || index == words.count - 1
      text += isLast ? "\n" : String(repeating: " ", count: pitch - word.columns)
    }
    return text + (isPartial ? "...\n" : "")
  }

  // MARK: The screen

  private var width: Int { Terminal.size(of: STDOUT_FILENO)?.columns ?? 80 }

  /// Shows the line, or the part around the cursor if it is longer than the terminal is wide.
  private func draw() throws(ToolError) {
    let room = max(4, width - prompt.count - 1)
    let window = Self.window(buffer.characters, around: buffer.cursor, room: room)
    let before = prompt.count + buffer.characters[window.lowerBound..<buffer.cursor].reduce(0) { $0 + $1.columns }
    let shown = String(buffer.characters[window].map { $0.isWhitespace ? " " : $0 })
    let place = before > 0 ? "\u{1B}[\(before)C" : ""
    try BufferedOutput.print("\r\(Paint.heading(prompt, in: .output))\(shown)\u{1B}[K\r\(place)")
  }

  /// The part of a line that is shown: the cursor is in it, and it takes no more columns than `room`.
  static func window(_ characters: [Character], around cursor: Int, room: Int) -> Range<Int> {
    var start = cursor
    var columns = 0
    while start > 0, columns + characters[start - 1].columns < room {
      start -= 1
      columns += characters[start].columns
    }
    var end = cursor
    while end < characters.count, columns + characters[end].columns <= room {
      columns += characters[end].columns
      end += 1
    }
    return start..<end
  }
}

/// What a word can be completed to.
struct LineCompletion: Equatable {
  /// Where the word begins in the line.
  var start: Int
  /// The whole words.
  var candidates: [String] = []
  /// What to put in the word's place; nil for nothing.
  var replacement: String?
  /// Whether there are more candidates.
  var isPartial = false
}
