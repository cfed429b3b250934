import Foundation
import Testing

@Suite struct LoadCSVTests {
  private func load(_ scratch: Scratch, _ text: String, _ options: String...) throws -> ToolResult {
    try scratch.run(["load", scratch.store, "-", "--format", "csv"] + options, input: Data(text.utf8))
  }

  @Test func rowsAreStoredAsObjectsUnderTheColumnNamed() throws {
    let scratch = try Scratch()
    let text = "\u{FEFF}id,name,\"a \"\"note\"\"\"\r\n1,Vienna,\"two\nlines, and \"\"quotes\"\"\"\r\n\r\n2,,\n"
    let result = try load(scratch, text, "--key-field", "id")
    #expect(result.status == 0)
    #expect(result.errors.hasPrefix("loaded 2 records"))
    let first = #"{"id":"1","name":"Vienna","a \"note\"":"two\nlines, and \"quotes\""}"#
    #expect(try scratch.run("get", scratch.store, "1").text == first)
    #expect(try scratch.run("get", scratch.store, "2").text == #"{"id":"2","name":"","a \"note\"":""}"#)
  }

  @Test(arguments: [
    ("1,2,3", "3 fields under a header of 2"), ("1", "1 field under a header of 2"),
    ("1,a\"b", "a quote in the middle of field 2"), ("\"1\"x,2", "something follows the closing quote of field 1"),
    ("1,\"open\nto\nthe end", "a quote is opened and never closed"),
  ])
  func badRowIsNamedAndCanBeSkipped(row: String, why: String) throws {
    let scratch = try Scratch()
    let result = try load(scratch, "id,name\n0,zero\n\(row)", "--key-field", "id", "--quiet")
    #expect(result.status == 1)
    #expect(result.errors == "esker: line 3: \(why)\n")
    #expect(try scratch.run("count", scratch.store).text == "1\n")
    let skipping = try load(scratch, "id,name\n0,zero\n\(row)", "--key-field", "id", "--skip-bad")
    #expect(skipping.status == 0)
    #expect(skipping.errors.contains("; 1 bad line skipped"))
  }

  @Test(arguments: ["1,\"a long text", "1,\"text", "1,\"\"\"a\"\" long text"])
  func noPartOfARowTooLongIsStored(start: String) throws {
    let scratch = try Scratch()
    let text = "id,name\n0,zero\n\(start)\n2,two\n3,three\"\n4,four\n"
    let result = try load(scratch, text, "--key-field", "id", "--max-line", "10", "--skip-bad")
    #expect(result.status == 0)
    #expect(result.errors.hasPrefix("esker: line 3: longer than 10 bytes: see --max-line\nloaded 2 records"))
    #expect(result.errors.contains("; 1 bad line skipped"))
    #expect(try scratch.run("list", scratch.store).lines.sorted() == ["0", "4"])
  }

  @Test func fieldsThatAreNotTextAreRefused() throws {
    let scratch = try Scratch()
    // The bytes of a character, torn between two fields, are not a character.
    let input = Data("id,a,b\n1,".utf8) + [0xC3] + Data(",".utf8) + [0xA9] + Data("\n".utf8)
    let result = try scratch.run("load", scratch.store, "-", "--format", "csv", "--key-field", "id", "-q", input: input)
    #expect(result.status == 1)
    #expect(result.errors == "esker: line 2: field 2 is not valid UTF-8\n")
  }

  @Test func theHeaderMustNameKeyAndValue() throws {
    let scratch = try Scratch()
    let unknown = try load(scratch, "a,b\n1,2\n", "--key-field", "id", "-q")
    #expect(unknown.errors == "esker: line 1: no column \"id\" in the header\n")
    let result = try load(scratch, "id,value\n1,2\n", "-q")
    #expect(result.status == 1)
    #expect(result.errors.hasPrefix("esker: line 1: no column \"key\""))
    #expect(try load(scratch, "", "-q").status == 0)
  }

  @Test func aColumnThatOccursTwiceIsRefused() throws {
    let scratch = try Scratch()
    let result = try scratch.run(
      "load",
      scratch.store,
      "-",
      "--format",
      "csv",
      "--key-field",
      "id",
      "-q",
      input: Data("id,a,id\n1,2,3\n".utf8)
    )
    #expect(result.status == 1 && result.errors == "esker: line 1: the column \"id\" occurs twice in the header\n")
  }

  @Test func theFormatIsWhatTheNameSays() throws {
    let scratch = try Scratch()
    let rows = try scratch.file("rows.csv", "id,name\n1,a\n".utf8)
    #expect(try scratch.run("load", scratch.store, rows, "--key-field", "id").status == 0)
    #expect(try scratch.run("get", scratch.store, "1").text == #"{"id":"1","name":"a"}"#)
    #expect(try scratch.run("dump", scratch.store, scratch.path("out.csv"), "-q").status == 0)
    let written = try String(contentsOfFile: scratch.path("out.csv"), encoding: .utf8)
    #expect(written.hasPrefix("keyspace,key,value,expires\n"))
    #expect(try scratch.run("dump", scratch.store, scratch.path("out.jsonl"), "-q").status == 0)
    #expect(try scratch.run("dump", scratch.store, scratch.path("other.csv"), "--format", "ndjson", "-q").status == 0)
    let other = try String(contentsOfFile: scratch.path("other.csv"), encoding: .utf8)
    #expect(other.hasPrefix("{"))
    for arguments in [
      ["dump", scratch.store, scratch.path("x.ndjson.zst")],
      ["load", scratch.store, rows + ".zst", "--key-field", "id"],
    ] {
      let result = try scratch.run(arguments)
      #expect(result.status == 64 && result.errors.contains("ends with .zst, and esker knows only gzip"))
    }
    #expect(!FileManager.default.fileExists(atPath: scratch.path("x.ndjson.zst")))
  }
}
