import Foundation
import Testing

/// Lists of JSON, as files named `.json` often hold.
@Suite struct LoadListTests {
  private func load(_ scratch: Scratch, _ text: String, _ options: String...) throws -> ToolResult {
    try scratch.run(["load", scratch.store, "-", "--key-field", "id"] + options, input: Data(text.utf8))
  }

  @Test(arguments: [
    #"[{"id":1},{"id":2,"a":["]","\"]",{"b":[]}]},{"id":3}]"#,
    "\u{FEFF} \n[\n  {\"id\":1},\n  {\"id\" : 2}\n,{\"id\":3} ]\n\n",
    "[{\"id\":1}, {\"id\":2},\r\n{\"id\":3}]",
  ]) func elementsAreStoredAsTheyAre(_ text: String) throws {
    let scratch = try Scratch()
    let result = try load(scratch, text)
    #expect(result.status == 0, "\(result.errors)")
    #expect(try scratch.run("list", scratch.store, "--sort", "key").text == "1\n2\n3\n")
    let value = try scratch.run("get", scratch.store, "2").text
    #expect(text.contains(value) && value.first == "{" && value.last == "}")
  }

  @Test(arguments: [
    ("[]", 0, ""), ("[ ]\n", 0, ""),
    ("[{\"id\":1},\n{}]", 1, "esker: line 2: the element that ends at byte 13: no field \"id\"\n"),
    ("[{\"id\":1},\n\n 7,\n{\"id\":2}]", 1, "esker: line 3: the element that ends at byte 15: not a JSON object\n"),
    ("[{\"id\":1},]", 1, "esker: line 1: the element that ends at byte 11: nothing where an object was expected\n"),
    ("[,{\"id\":1}]", 1, "esker: line 1: the element that ends at byte 2: nothing where an object was expected\n"),
    ("[{\"id\":1},{\"id\":2}", 1, "esker: line 1: the list is not closed\n"),
    ("[", 1, "esker: line 1: the list is not closed\n"),
    ("[{\"id\":1}]\nx", 1, "esker: line 2: bytes after the end of the list\n"),
    (
      "[{\"id\":1} {\"id\":2}]", 1,
      "esker: line 1: the element that ends at byte 18: bytes after the end of the document (byte 10)\n"
    ),
  ]) func whatIsWrongIsNamed(_ text: String, _ status: Int32, _ errors: String) throws {
    let scratch = try Scratch()
    let result = try load(scratch, text, "--quiet")
    #expect(result.status == status)
    #expect(result.errors == errors)
    if text.hasPrefix("[{\"id\":1},") { #expect(try scratch.run("get", scratch.store, "1").text == "{\"id\":1}") }
  }

  @Test func badElementsAreSkippedAndLongOnesTakeNoMemory() throws {
    let scratch = try Scratch()
    let long = String(repeating: "x,]", count: 1_000_000)
    let text = "[{\"id\":1},7,{\"id\":\"\(long)\"},{\"id\":2},{\"id\":[}]},{\"id\":3}]"
    let result = try load(scratch, text, "--skip-bad", "--max-line", "1kB")
    #expect(result.status == 0)
    #expect(result.errors.contains("loaded 3 records") && result.errors.contains("3 bad lines skipped"))
    #expect(result.errors.contains("longer than 1,000 bytes"))
  }

  /// Of which all stands on one line, which may be longer than any buffer.
  @Test func aLoadOfALongListIsResumed() throws {
    let scratch = try Scratch()
    let elements = (0..<50_000).map { "{\"id\":\($0),\"text\":\"\(String(repeating: "y", count: $0 % 90))\"}" }
    let file = try scratch.file("in", Data("[\(elements[..<30_000].joined(separator: ",")),{}]".utf8))
    let arguments = ["load", scratch.store, file, "--key-field", "id", "--resume"]
    #expect(try scratch.run(arguments).status == 1)
    #expect(try scratch.run("count", scratch.store).text == "30000\n")
    _ = try scratch.file("in", Data("[\(elements.joined(separator: ","))]".utf8))
    let result = try scratch.run(arguments)
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.errors.hasPrefix("loaded 20,000 records") && result.errors.contains("30,000 earlier"))
    #expect(try scratch.run("count", scratch.store).text == "50000\n")
  }
}
