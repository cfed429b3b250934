import Foundation
import Testing

/// Files that are not quite what the usual ones are.
@Suite struct LoadVariantTests {
  private func load(_ scratch: Scratch, _ text: String, _ options: String...) throws -> ToolResult {
    try scratch.run(["load", scratch.store, "-"] + options, input: Data(text.utf8))
  }

  @Test func aKeyMayBeWithinObjects() throws {
    let scratch = try Scratch()
    let text = #"{"_id":{"$oid":"abc","n":1},"a.b":{"c":5}}"#
    #expect(try load(scratch, text, "--key-field", "_id.$oid").status == 0)
    #expect(try load(scratch, text, "--key-field", #"["a.b"].c"#).status == 0)
    #expect(try scratch.run("list", scratch.store, "--sort", "key").text == "5\nabc\n")
    #expect(try scratch.run("get", scratch.store, "abc").text == text)
    for (field, why) in [
      ("_id", "field \"_id\" is neither a string nor a number (byte 8)"), ("_id.x", "no field \"_id.x\""),
      ("_id.$oid.x", "no field \"_id.$oid.x\""),
    ] {
      let result = try load(scratch, text, "--key-field", field, "--quiet")
      #expect(result.status == 1)
      #expect(result.errors == "esker: line 1: \(why)\n")
    }
    for wrong in ["tags[0]", "a..b", "."] { #expect(try load(scratch, text, "--key-field", wrong).status == 64) }
  }

  @Test(arguments: [
    ("id;name\n1;Vienna, Austria\n", ["--format", "csv", "--delimiter", ";"], #"{"id":"1","name":"Vienna, Austria"}"#),
    ("id|name\n1|\"a|b\"\n", ["--format", "csv", "--delimiter", "|"], #"{"id":"1","name":"a|b"}"#),
    ("id\tname\n1\t\"a\tb\"\n", ["--format", "csv", "--delimiter", "tab"], #"{"id":"1","name":"a\tb"}"#),
    ("id\tname\r\n1\tthe \"Who\", and\"\r\n", ["--format", "tsv"], #"{"id":"1","name":"the \"Who\", and\""}"#),
    ("id,name\r1,\"a\rb\"\r2,c\r", ["--format", "csv"], #"{"id":"1","name":"a\rb"}"#),
    ("id,name\r1,x", ["--format", "csv"], #"{"id":"1","name":"x"}"#),
    ("id,\"na\rme\"\n1,x\n", ["--format", "csv"], #"{"id":"1","na\rme":"x"}"#),
  ]) func columnsAndLinesMayEndOtherwise(_ text: String, _ options: [String], _ value: String) throws {
    let scratch = try Scratch()
    let result = try scratch.run(["load", scratch.store, "-", "--key-field", "id"] + options, input: Data(text.utf8))
    #expect(result.status == 0, "\(result.errors)")
    #expect(try scratch.run("get", scratch.store, "1").text == value)
  }

  @Test func aDelimiterIsOneCharacterOfColumns() throws {
    let scratch = try Scratch()
    for wrong in ["", ";;", "\"", "é", "\n"] {
      #expect(try load(scratch, "", "--key-field", "id", "--format", "csv", "--delimiter", wrong).status == 64)
    }
    #expect(try load(scratch, "", "--key-field", "id", "--delimiter", ";").status == 64)
    #expect(try scratch.run("dump", scratch.store, "--format", "tsv").status == 64)
  }

  @Test func anInputOfWhichNothingCanBeLoadedFails() throws {
    let scratch = try Scratch()
    let result = try load(scratch, "a\nb\n\n", "--key-field", "id", "--skip-bad", "--quiet")
    #expect(result.status == 1)
    #expect(result.errors.hasSuffix("esker: none of the 2 lines can be loaded\n"))
    #expect(try load(scratch, "\n", "--key-field", "id", "--skip-bad").status == 0)
    #expect(try load(scratch, "a\n{\"id\":1}\n", "--key-field", "id", "--skip-bad").status == 0)
  }

  @Test func theStoreRemembersWhatIsChosen() throws {
    let scratch = try Scratch()
    let lines = (0..<20_000).map { "{\"id\":\($0),\"text\":\"\(String(repeating: "the same ", count: 10))\"}\n" }
      .joined()
    #expect(try load(scratch, lines, "--key-field", "id", "--compression", "lz4:9", "--capacity", "64MiB").status == 0)
    let settings = try scratch.run("stats", scratch.store).text + scratch.run("stats", scratch.store, "--json").text
    #expect(settings.contains("LZ4, level 9") && settings.contains("\"capacity\":67108864"))
    #expect(try load(scratch, lines, "--key-field", "id", "--capacity", "none").status == 0)
    #expect(try scratch.run("stats", scratch.store).text.contains("no limit"))
    for (option, wrong) in [("--compression", "zip"), ("--compression", "lz4:13"), ("--capacity", "much")] {
      #expect(try load(scratch, lines, "--key-field", "id", option, wrong).status == 64)
    }
  }

  @Test func aMergeCompressesIfAsked() throws {
    let scratch = try Scratch()
    let lines = (0..<20_000).map { "{\"id\":\($0),\"text\":\"\(String(repeating: "the same ", count: 10))\"}\n" }
      .joined()
    #expect(try load(scratch, lines, "--key-field", "id").status == 0)
    func size() throws -> Int {
      try SampleStore.segments(scratch.store).reduce(0) {
        $0 + (try FileManager.default.attributesOfItem(atPath: "\(scratch.store)/\($1)")[.size] as? Int ?? 0)
      }
    }
    let before = try size()
    #expect(try scratch.run("merge", scratch.store, "--compression", "lz4").status == 0)
    #expect(try size() < before / 2)
    #expect(try scratch.run("get", scratch.store, "7").text.hasPrefix("{\"id\":7"))
    #expect(try scratch.run("merge", scratch.store, "--dry-run", "--compression", "lz4").status == 64)
  }
}
