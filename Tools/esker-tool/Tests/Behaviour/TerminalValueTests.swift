import Foundation
import Testing

/// A terminal obeys what is written to it; a pipe gets the bytes.
@Suite struct TerminalValueTests {
  @Test(
    arguments: [
      (Array("two\nlines\tand Zürich".utf8), "two\nlines\tand Zürich\n"),
      (Array("\u{1B}[31mred\r".utf8), "\\x1b[31mred\\r\n"),
      ([0xFF, 0x00, 0x61], "\\xff\\x00a\n"), (Array("a\u{9B}b".utf8), "a\\xc2\\x9bb\n"),
      (Array("a\u{202E}b".utf8), "a\\xe2\\x80\\xaeb\n"),
    ] as [([UInt8], String)]
  )
  func getShowsAndDoesNotSend(_ value: [UInt8], _ shown: String) throws {
    let scratch = try Scratch()
    #expect(try scratch.run("put", scratch.store, "k", "-", input: Data(value)).status == 0)
    let result = try PseudoTerminal(columns: 80).run(["get", scratch.store, "k"])
    #expect(result.status == 0)
    #expect(result.text == shown)
    #expect(try scratch.run("get", scratch.store, "k").output == Data(value))
    #expect(try scratch.run("get", scratch.store, "k").errors == "")
  }

  @Test func rawSendsAll() throws {
    let scratch = try Scratch()
    #expect(try scratch.run("put", scratch.store, "k", "\u{1B}[1m").status == 0)
    #expect(try PseudoTerminal(columns: 80).run(["get", scratch.store, "k", "--raw"]).text == "\u{1B}[1m\n")
  }
}
