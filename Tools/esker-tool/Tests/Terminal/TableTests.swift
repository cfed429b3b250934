import Esker
import Foundation
import Testing

@testable import esker_tool

@Suite struct TableTests {
  private let columns = [Table.Column.right("ID"), .left("KIND"), .right("SIZE"), .left("KEY")]
  private let rows: [[Cell]] = [
    [.number(7), .word("put"), .size(1234), .bytes(Array("a🏔b".utf8))],
    [.number(1024), .word("delete"), .none, .bytes([0xFF, 0x0A, 0x61])],
  ]

  private func text(_ terminal: Terminal, rows: [[Cell]]) throws -> String {
    let scratch = try Scratch()
    return try scratch.written { output in
      var table = Table(columns, in: terminal)
      for row in rows { try table.add(row, to: &output) }
      try table.flush(to: &output)
    }
  }

  @Test func pipeGetsTabsAndPlainNumbers() throws {
    #expect(
      try text(.none, rows: rows) == """
        ID\tKIND\tSIZE\tKEY
        7\tput\t1234\ta🏔b
        1024\tdelete\t\t\\xff\\na

        """
    )
    #expect(try text(.none, rows: []) == "ID\tKIND\tSIZE\tKEY\n")
  }

  @Test func terminalGetsAlignedColumnsAndUnits() throws {
    #expect(
      try text(Terminal(columns: 80, showsColor: false), rows: rows) == """
          ID  KIND       SIZE  KEY
           7  put     1.23 kB  a🏔b
        1024  delete        -  \\xff\\na

        """
    )
  }

  @Test func narrowTerminalGetsALineForEachCell() throws {
    #expect(
      try text(Terminal(columns: 20, showsColor: false), rows: rows) == """
        ID    7
        KIND  put
        SIZE  1.23 kB
        KEY   a🏔b

        ID    1024
        KIND  delete
        SIZE  -
        KEY   \\xff\\na

        """
    )
  }

  @Test func titlesAreWrittenOnceHoweverManyRowsThereAre() throws {
    let many = (0..<2500).map { [Cell.number($0), .word("put"), .size(1), .word("k")] }
    for terminal in [Terminal.none, Terminal(columns: 80, showsColor: false)] {
      let lines = try text(terminal, rows: many).split(separator: "\n")
      #expect(lines.count == 2501)
      #expect(lines.count { $0.contains("KIND") } == 1)
    }
  }

  @Test func colorDoesNotMoveColumns() throws {
    let row: [Cell] = [.number(1), .word("put", .bad), .size(1), .word("k")]
    let painted = try text(Terminal(columns: 80, showsColor: true), rows: [row])
    #expect(painted.contains("\u{1B}[31mput "))
    let bare = painted.replacing(try Regex("\u{1B}\\[[0-9]*m"), with: "")
    let expected = try text(Terminal(columns: 80, showsColor: false), rows: [row])
    #expect(bare == expected)
  }

  @Test func colorIsOnlyForTerminalsThatWantIt() {
    #expect(Terminal(descriptor: 99, environment: [:]) == .none)
    #expect(Paint.bad("x", in: .none) == "x")
    #expect(Paint.bad("x", in: Terminal(columns: 80, showsColor: true)) == "\u{1B}[31mx\u{1B}[0m")
  }

  @Test func pairsKeepTheirValuesOnNarrowTerminals() {
    let pairs = Pairs([("space amplification", .decimal(1.5, 2)), ("keys", .count(1_234_567))])
    #expect(
      pairs.text(in: .none) == """
        space amplification  1.50
        keys                 1,234,567

        """
    )
    #expect(
      pairs.text(in: Terminal(columns: 20, showsColor: false)) == """
        space amplification
          1.50
        keys
          1,234,567

        """
    )
  }

  @Test(
    arguments: [
      ([0x61, 0x5C, 0x62], #"a\\b"#), ([0x09, 0x0A, 0x0D, 0x00, 0x7F], #"\t\n\r\x00\x7f"#),
      (Array("Zürich 🏔".utf8), "Zürich 🏔"), ([0xC3, 0x28, 0xE2, 0x82], #"\xc3(\xe2\x82"#), ([], ""),
      (Array("a\u{200F}b\u{9B}".utf8), #"a\xe2\x80\x8fb\xc2\x9b"#),
    ] as [([UInt8], String)]
  )
  func bytesAreEscapedSoThatTheyCanBeHadBack(bytes: [UInt8], text: String) {
    #expect(escaped(bytes) == text)
  }

  @Test func progressSaysShareRateAndTimeLeft() {
    #expect(
      Progress("checking", total: 2_000_000_000).text(share: 0.25, seconds: 2) == "checking 25 %, 250 MB/s, 6 s left"
    )
    #expect(Progress("repairing").text(share: 0, seconds: 2) == "repairing 0 %")
  }
}

extension Scratch {
  /// What `body` writes.
  func written(_ body: (inout BufferedOutput) throws -> Void) throws -> String {
    let path = try file("written", [])
    let descriptor = open(path, O_WRONLY)
    defer { close(descriptor) }
    var output = BufferedOutput(descriptor: descriptor, name: path)
    try body(&output)
    try output.flush()
    return try String(contentsOfFile: path, encoding: .utf8)
  }

  @Test func instantsSayTheirZone() {
    let cell = Cell.instant(WallTime(millisecondsSince1970: 1_772_366_400_250))
    #expect(cell.shown == "2026-03-01 12:00:00Z" && cell.plain == "2026-03-01T12:00:00.250Z")
    var pairs = Pairs()
    pairs.add("time", cell)
    #expect(pairs.text(in: .none) == "time  2026-03-01T12:00:00.250Z\n")
    #expect(pairs.text(in: Terminal(columns: 80, showsColor: false)) == "time  2026-03-01 12:00:00Z\n")
  }
}
