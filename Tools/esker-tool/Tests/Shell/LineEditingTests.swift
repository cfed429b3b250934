import Esker
import Testing

@testable import esker_tool

@Suite struct LineEditingTests {
  @Test(arguments: [
    ("get at", ["get", "at"]), ("  a   b ", ["a", "b"]), ("'a b' \"c d\"", ["a b", "c d"]),
    (#"a\ b \"c"#, ["a b", "\"c"]),
    (#"'a\b' "a\b\"\\""#, [#"a\b"#, #"a\b"\"#]), ("a''b ''", ["ab", ""]), ("", []), ("   ", []),
    (#"{"a":1}"#, ["{a:1}"]), ("é 'ü ö'", ["é", "ü ö"]),
  ])
  func linesAreTakenApart(_ line: String, _ words: [String]) throws {
    #expect(try ShellWords.split(line) == words)
    #expect(
      try ShellWords.split(words.map { $0.isEmpty ? "''" : ShellWords.typed($0) }.joined(separator: " ")) == words
    )
  }

  @Test(arguments: ["'a", "\"a", "a\\", "'a\\'b'"])
  func openQuotesAreRefused(_ line: String) {
    #expect(throws: ToolError.openQuote) { try ShellWords.split(line) }
  }

  private func keys(_ bytes: [UInt8], inPieces: Bool = false) -> [TypedKey] {
    var parser = KeyParser()
    var keys: [TypedKey] = []
    for piece in inPieces ? bytes.map({ [$0] }) : [bytes] {
      parser.add(piece)
      while let key = parser.next() { keys.append(key) }
    }
    return keys
  }

  @Test(arguments: [false, true])
  func bytesAreKeys(inPieces: Bool) {
    let bytes = Array("\u{1B}[A\u{1B}OD\u{1B}[3~\u{1B}[1;5C\u{1B}bé\t\r\u{3}\u{7F}\u{1B}[H\u{1B}[200~x".utf8)
    #expect(
      keys(bytes, inPieces: inPieces) == [
        .up, .left, .delete, .wordRight, .alt("b"), .text("é"), .tab, .enter, .control("c"), .backspace, .home,
        .unknown,
        .text("x"),
      ]
    )
  }

  @Test func bytesThatAreNoTextAreShownAsSuch() {
    #expect(keys([0xFF, 0x61]) == [.text("\u{FFFD}a")])
    #expect(keys(Array("a東".utf8.dropLast())) == [.text("a")])
  }

  @Test func keysEditALine() {
    var line = LineBuffer()
    for key in [
      .text("get one two"), .control("w"), .text("three"), .home, .wordRight, .control("k"), .end, .control("y"),
      .control("a"),
      .delete, .text("G"), .right, .backspace, .text("e"),
    ] as [TypedKey] {
      LineEditor.edit(&line, key)
    }
    #expect(line.text == "Get one three" && line.cursor == 2)
    for _ in 0..<20 { LineEditor.edit(&line, .left) }
    for key in [.backspace, .control("u"), .control("w"), .wordLeft] as [TypedKey] { LineEditor.edit(&line, key) }
    #expect(line.text == "Get one three" && line.cursor == 0)
    LineEditor.edit(&line, .text("e"))
    LineEditor.edit(&line, .text("\u{301}"))
    #expect(line.text == "éGet one three" && line.cursor == 1)
  }

  @Test(arguments: [0, 3, 50, 99], [4, 10, 80, 200])
  func theCursorIsInTheWindow(cursor: Int, room: Int) {
    let line = (0..<99).map { Character($0.isMultiple(of: 3) ? "東" : "x") }
    let window = LineEditor.window(line, around: cursor, room: room)
    #expect(window.lowerBound <= cursor && cursor <= window.upperBound)
    #expect(line[window].reduce(0) { $0 + $1.columns } <= room)
  }

  @Test func commandsKeyspacesOptionsAndKeysAreCompleted() throws {
    let scratch = try Scratch()
    let store = try LogStore(at: scratch.store)
    for key in ["user 1", "user 2", "other", "new\nline"] { try store.put("x", forKey: key) }
    try store.storage("boards", key: Int.self, of: Int.self).set(1, forKey: 4711)
    let completer = ShellCompleter(store: store, commands: ShellSession.commands)
    func complete(_ line: String) -> (String?, [String]) {
      let found = completer.completion(of: Array(line))
      return (found.replacement, found.candidates)
    }
    #expect(complete("ge") == ("get ", ["get"]))
    #expect(complete("help ge") == ("get ", ["get"]))
    #expect(complete("get us") == ("user\\ ", ["user 1", "user 2"]))
    #expect(complete("get user\\ 2") == ("user\\ 2 ", ["user 2"]))
    #expect(complete("get 'user 2") == ("user\\ 2 ", ["user 2"]))
    #expect(complete("get n") == (nil, []))
    #expect(complete("count --keyspace b") == ("boards ", ["boards"]))
    #expect(complete("get --keyspace boards 4") == ("4711 ", ["4711"]))
    #expect(complete("count --pre") == ("--prefix ", ["--prefix"]))
    #expect(complete("put other ") == (nil, []))
    #expect(complete("drop b") == ("boards ", ["boards"]))
    #expect(complete("").1.contains("quit"))
    try store.close()
  }
}
