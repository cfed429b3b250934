import EskerTestSupport
import Foundation
import Testing

@Suite struct LoadTests {
  private func load(_ scratch: Scratch, _ text: String, _ options: String...) throws -> ToolResult {
    try scratch.run(["load", scratch.store, "-", "--key-field", "id"] + options, input: Data(text.utf8))
  }

  @Test func documentsAreStoredByteForByteUnderTheirFieldsText() throws {
    let scratch = try Scratch()
    let lines = [
      #"{"id":"plain","v":1}"#,
      #"  { "v" : [1, 2.50e-3, {"id":"inner"}], "id" : "spaced out" }  "#,
      #"{"id":1.50e+3}"#,
      #"{"id":-0}"#,
      #"{"id":"\u00e9\ud83c\udfd4\/\n\"","é":"🏔️"}"#,
      #"{"\u0069d":"escaped name"}"#,
      #"{"id":""}"#,
    ]
    let keys = ["plain", "spaced out", "1.50e+3", "-0", "é🏔/\n\"", "escaped name", ""]
    let file = try scratch.file("in.ndjson", lines.joined(separator: "\n").utf8)
    let result = try scratch.run("load", scratch.store, file, "--key-field", "id")
    #expect(result.status == 0 && result.output.isEmpty)
    #expect(result.errors.hasPrefix("loaded 7 records ("))
    for (key, line) in zip(keys, lines) {
      #expect(try scratch.run("get", scratch.store, "--", key).text == line)
    }
    #expect(try scratch.run("count", scratch.store).text == "7\n")
  }

  @Test func blankLinesByteOrderMarkAndMissingLastNewlineAreTolerated() throws {
    let scratch = try Scratch()
    let result = try load(scratch, "\u{FEFF}{\"id\":1}\n\n  \t\r\n{\"id\":2}\r\n\n{\"id\":3}")
    #expect(result.status == 0)
    #expect(result.errors.hasPrefix("loaded 3 records"))
    #expect(try scratch.run("get", scratch.store, "1").text == "{\"id\":1}")
    // Carriage returns are white space of the document: its bytes are kept as they are.
    #expect(Array(try scratch.run("get", scratch.store, "2").output) == Array("{\"id\":2}\r".utf8))
  }

  @Test(arguments: ["", "\n", "\u{FEFF}", "\u{FEFF}\n\n"])
  func emptyInputMakesAnEmptyStore(text: String) throws {
    let scratch = try Scratch()
    let result = try load(scratch, text)
    #expect(result.status == 0)
    #expect(result.errors.hasPrefix("loaded 0 records (0 B)"))
    #expect(try scratch.run("count", scratch.store).text == "0\n")
  }

  @Test func laterDocumentReplacesEarlierOneOfTheSameKey() throws {
    let scratch = try Scratch()
    let result = try load(scratch, #"{"id":1,"v":1}"# + "\n" + #"{"id":2}"# + "\n" + #"{"id":"1","v":2}"#)
    #expect(result.status == 0)
    #expect(result.errors.contains("; 1 replaced"))
    #expect(try scratch.run("get", scratch.store, "1").text == #"{"id":"1","v":2}"#)
    #expect(try load(scratch, #"{"id":2,"v":2}"#).errors.contains("; 1 replaced"))
    #expect(try scratch.run("count", scratch.store).text == "2\n")
  }

  @Test(arguments: [
    ("nonsense", "not a JSON object"), ("[1]", "not a JSON object"), (#"{"x":1}"#, "no field \"id\""),
    (#"{"id":1,"id":1}"#, "occurs twice"), (#"{"id":null}"#, "neither a string nor a number"),
    (#"{"id":{"id":1}}"#, "neither a string nor a number"), (#"{"id":1"#, "ends too early"),
    (#"{"id":1}}"#, "bytes after the end"), (#"{"id":"\ud800"}"#, "surrogate"), (#"{"id":01}"#, "expected"),
  ])
  func badLineStopsTheLoadAndKeepsWhatCameBefore(line: String, why: String) throws {
    let scratch = try Scratch()
    let result = try load(scratch, "{\"id\":\"first\"}\n\n\(line)\n{\"id\":\"last\"}\n")
    #expect(result.status == 1)
    let messages = result.errors.split(separator: "\n")
    #expect(messages.count == 2)
    #expect(messages.first?.hasPrefix("loaded 1 record (") == true)
    #expect(messages.last?.hasPrefix("esker: line 3: ") == true)
    #expect(messages.last?.contains(why) == true)
    #expect(try scratch.run("get", scratch.store, "first").status == 0)
    #expect(try scratch.run("get", scratch.store, "last").status == 1)
  }

  @Test func skipBadReportsTenLinesAndLoadsTheRest() throws {
    let scratch = try Scratch()
    let text = (1...25).map { $0 % 2 == 0 ? "bad" : "{\"id\":\($0)}" }.joined(separator: "\n")
    let result = try load(scratch, text, "--skip-bad")
    #expect(result.status == 0)
    let reports = result.errors.split(separator: "\n").filter { $0.hasPrefix("esker: line ") }
    #expect(reports.count == 10)
    #expect(reports.first == "esker: line 2: not a JSON object")
    #expect(result.errors.contains("loaded 13 records"))
    #expect(result.errors.contains("; 12 bad lines skipped"))
    #expect(try scratch.run("count", scratch.store).text == "13\n")
  }

  @Test func keyThatIsTooLongIsABadLine() throws {
    let scratch = try Scratch()
    let longest = String(repeating: "k", count: 65_535)
    let result = try load(scratch, "{\"id\":\"\(longest)\"}\n{\"id\":\"\(longest)k\"}", "--skip-bad")
    #expect(result.status == 0)
    #expect(result.errors.contains("line 2: the key has 65536 bytes"))
    #expect(try scratch.run("count", scratch.store).text == "1\n")
  }

  @Test func lineLongerThanTheReadersBufferIsLoaded() throws {
    let scratch = try Scratch()
    let line = "{\"id\":\"long\",\"text\":\"" + String(repeating: "0123456789", count: 500_000) + "\"}"
    let result = try load(scratch, "{\"id\":1}\n" + line + "\n{\"id\":2}\n")
    #expect(result.status == 0)
    #expect(try scratch.run("get", scratch.store, "long").output == Data(line.utf8))
    #expect(try scratch.run("count", scratch.store).text == "3\n")
  }

  @Test func timeToLiveAndKeyspaceApplyToAll() throws {
    let scratch = try Scratch()
    _ = try load(scratch, "{\"id\":1}\n{\"id\":2}", "--ttl", "1ms", "--keyspace", "short")
    _ = try load(scratch, "{\"id\":1}", "--ttl", "1h", "--keyspace", "long")
    let last = Date().addingTimeInterval(0.002)
    #expect(eventually { Date() > last })
    #expect(try scratch.run("count", scratch.store, "--keyspace", "short").text == "0\n")
    #expect(try scratch.run("count", scratch.store, "--keyspace", "long").text == "1\n")
    #expect(try scratch.run("count", scratch.store).text == "0\n")
  }

  @Test(arguments: [[], ["--synced"]])
  func everyNthRecordIsAcknowledgedAndTheLast(options: [String]) throws {
    let scratch = try Scratch()
    let text = (1...25).map { "{\"id\":\($0 % 20)}\n" }.joined()
    let result = try scratch.run(
      ["load", scratch.store, "-", "--key-field", "id", "--acknowledge", "10"] + options,
      input: Data(text.utf8)
    )
    #expect(result.status == 0)
    #expect(result.lines == ["10", "20", "25"])
    #expect(result.errors.contains("; 5 replaced"))
  }

  @Test func whatWasAcknowledgedSurvivesAKill() throws {
    let scratch = try Scratch()
    let load = try OpenLoad(store: scratch.store)
    for number in 1...20 { #expect(try load.feed("{\"id\":\(number)}") == "\(number)\n") }
    load.kill9()
    #expect(try scratch.run("count", scratch.store).text == "20\n")
    #expect(try scratch.run("get", scratch.store, "20").text == "{\"id\":20}")
    #expect(try scratch.run("put", scratch.store, "k", "v").status == 0)
    #expect(try scratch.run("verify", scratch.store).status == 0)
  }

  @Test func acknowledgementsNobodyReadsDoNotStopTheLoad() throws {
    let scratch = try Scratch()
    let input = try scratch.file("in", (1...50_000).map { "{\"id\":\($0)}\n" }.joined().utf8)
    let result = try scratch.shell(
      #"{ "$0" load "$1" '\#(input)' --key-field id --acknowledge 1 2>/dev/null; echo $? >&2; } | head -n 1"#
    )
    #expect(result.text == "1\n")
    #expect(result.errors == "0\n")
    #expect(try scratch.run("count", scratch.store).text == "50000\n")
  }

  @Test func aListOfEntriesIsToldFromOtherTextThatIsNoObject() throws {
    let scratch = try Scratch()
    func load(_ text: String, _ options: String...) throws -> String {
      try scratch.run(["load", scratch.store, "-", "-q"] + options, input: Data(text.utf8)).errors
    }
    let told = "line 1: not a JSON object but a list: put its elements on a line each"
    #expect(try load(#"[{"id":1}]"#, "--format", "ndjson").contains(told))
    #expect(try load("{\"id\":1}\n[{}]", "--key-field", "id").contains("line 2: not a JSON object but a list"))
    for options in [["--key-field", "id"], ["--format", "ndjson"]] {
      let result = try scratch.run(["load", scratch.store, "-", "-q"] + options, input: Data("text".utf8))
      #expect(result.errors == "esker: line 1: not a JSON object\n")
    }
  }
}
