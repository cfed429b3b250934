import Foundation
import Testing

@Suite struct DumpFormatTests {
  /// A store of all that is hard to write as text: keyspaces, instants of expiry, bytes of every kind.
  private func filled() throws -> Scratch {
    let scratch = try Scratch()
    let values: [Data] = [
      Data(), Data("plain".utf8), Data("a \"quoted\", one\r\nand\nmore\r".utf8), Data((0...255).map { UInt8($0) }),
      Data(repeating: 0xFF, count: 1000), Data("é🏔\u{1}".utf8), Data("  ".utf8), Data("\n".utf8),
    ]
    for (number, value) in values.enumerated() {
      let keyspace = number % 3 == 0 ? ["--keyspace", "names, \"all\""] : []
      let expiry = number % 2 == 0 ? ["--ttl", "7d"] : []
      let put = ["put", scratch.store, "key,\"\(number)", "-"] + keyspace + expiry
      #expect(try scratch.run(put, input: value).status == 0)
    }
    let binary = ["put", scratch.store, "00ff80", "value of a binary key", "--key-encoding", "hex"]
    #expect(try scratch.run(binary).status == 0)
    return scratch
  }

  @Test(arguments: [
    ["ndjson"], ["ndjson", "--encoding", "hex"], ["ndjson", "--encoding", "base64"],
    ["csv", "--encoding", "hex"], ["csv", "--encoding", "base64"], ["binary"],
  ])
  func whatIsDumpedIsLoadedAsItWas(options: [String]) throws {
    let scratch = try filled()
    let dump = try scratch.run(["dump", scratch.store, scratch.path("file"), "--format"] + options)
    #expect(dump.status == 0)
    #expect(dump.errors.hasPrefix("wrote 9 entries ("))
    let load = try scratch.run("load", scratch.path("copy"), scratch.path("file"), "--format", options[0])
    #expect(load.status == 0)
    #expect(load.errors.hasPrefix("loaded 9 records ("))
    let entries = try scratch.run("dump", scratch.store).lines.sorted()
    #expect(try scratch.run("dump", scratch.path("copy")).lines.sorted() == entries)
  }

  @Test(arguments: ["ndjson", "csv"])
  func timeToLiveIsForEntriesWithoutAnInstantOfTheirOwn(format: String) throws {
    let scratch = try Scratch()
    _ = try scratch.run("put", scratch.store, "a", "1")
    _ = try scratch.run("put", scratch.store, "b", "2", "--ttl", "7d")
    let dump = try scratch.run("dump", scratch.store, "--format", format).output
    let copy = scratch.path("copy")
    #expect(try scratch.run("load", copy, "-", "--format", format, "--ttl", "30d", input: dump).status == 0)
    let before = try scratch.run("dump", scratch.store).lines.sorted()
    let after = try scratch.run("dump", copy).lines.sorted()
    #expect(before[0].hasSuffix(#""expires":null}"#))
    #expect(after[0].hasPrefix(#"{"key":"a","value":"1","expires":"20"#))
    #expect(after[1] == before[1])
    // Asked for nothing else, what stays for ever does so.
    #expect(try scratch.run("load", copy, "-", "--format", format, input: dump).status == 0)
    #expect(try scratch.run("dump", copy).lines.sorted() == before)
  }

  @Test(arguments: [
    ["--key-field", "id"], ["--ttl", "1s"], ["--keyspace", "k"], ["--resume"], ["--skip-bad"], ["--acknowledge", "1"],
  ])
  func aBinaryStreamIsLoadedWithoutOptionsForRecords(options: [String]) throws {
    let scratch = try Scratch()
    let result = try scratch.run(["load", scratch.store, "-", "--format", "binary"] + options)
    #expect(result.status == 64)
    #expect(result.errors.contains("loaded as it is, without "))
    #expect(result.errors.contains(options[0]))
  }

  @Test func commaSeparatedTextIsLoadedAsItWas() throws {
    let scratch = try Scratch()
    for (key, value) in [("a", "1"), ("b,c", "\"x\"\r\n"), ("", "é\n"), ("d", ""), ("e", "x\r")] {
      #expect(try scratch.run("put", scratch.store, key, value).status == 0)
    }
    let dump = try scratch.run("dump", scratch.store, "--format", "csv")
    #expect(dump.lines.first == "keyspace,key,value,expires")
    #expect(dump.text.contains(",a,1,\n"))
    #expect(dump.text.contains(",\"b,c\",\"\"\"x\"\"\r\n\",\n"))
    let load = try scratch.run("load", scratch.path("copy"), "-", "--format", "csv", input: dump.output)
    #expect(load.status == 0)
    #expect(
      try scratch.run("dump", scratch.path("copy")).lines.sorted() == scratch.run("dump", scratch.store).lines.sorted()
    )
  }

  @Test func anEntryThatIsNotTextNeedsAnEncoding() throws {
    let scratch = try filled()
    for format in ["csv", "ndjson"] {
      let dump = try scratch.run("dump", scratch.store, scratch.path("file"), "--format", format, "--encoding", "text")
      #expect(dump.status == 1)
      #expect(dump.errors.contains("is not text: choose --encoding hex or base64\n"))
      #expect(!FileManager.default.fileExists(atPath: scratch.path("file")))
    }
  }

  @Test func aFileThatIsThereIsNotWrittenOver() throws {
    let scratch = try filled()
    let taken = try scratch.file("taken", Array("mine".utf8))
    for format in ["ndjson", "csv", "binary"] {
      let result = try scratch.run("dump", scratch.store, taken, "--format", format)
      #expect(result.status == 74)
      #expect(result.errors.hasPrefix("esker: \(taken) already exists"))
    }
    #expect(try String(contentsOfFile: taken, encoding: .utf8) == "mine")
  }

  @Test func entriesThatHaveExpiredArePassedOver() throws {
    let scratch = try Scratch()
    let lines = """
      {"key":"gone","value":"x","expires":"2001-01-01T00:00:00Z"}
      {"key":"stays","value":"x","expires":"2901-01-01T12:00:00.5+02:00"}
      {"key":"plain","value":"x"}
      """
    let load = try scratch.run("load", scratch.store, "-", "--format", "ndjson", input: Data(lines.utf8))
    #expect(load.status == 0)
    #expect(load.errors.contains("; 1 expired"))
    #expect(try scratch.run("list", scratch.store).lines.sorted() == ["plain", "stays"])
    #expect(try scratch.run("dump", scratch.store).text.contains("\"expires\":\"2901-01-01T10:00:00.500Z\""))
  }

  @Test func entriesGoToTheKeyspaceTheyNameOrToTheOneGiven() throws {
    let scratch = try Scratch()
    let lines = #"{"keyspace":"own","key":"a","value":"1"}"# + "\n" + #"{"key":"b","value":"2"}"#
    let input = Data(lines.utf8)
    let load = try scratch.run("load", scratch.store, "-", "--format", "ndjson", "--keyspace", "given", input: input)
    #expect(load.status == 0)
    #expect(try scratch.run("get", scratch.store, "a", "--keyspace", "own").text == "1")
    #expect(try scratch.run("get", scratch.store, "b", "--keyspace", "given").text == "2")
  }

  @Test(arguments: [
    (#"{"value":"x"}"#, "there is no field \"key\""), (#"{"key":"x"}"#, "there is no field \"value\""),
    (#"{"key":"a","key64":"YQ==","value":""}"#, "more than one key"), (#"{"key":1,"value":""}"#, "is not a text"),
    (#"{"key64":"YQ","value":""}"#, "is not base64"), (#"{"keyHex":"6","value":""}"#, "is not hex"),
    (#"{"keyHex":"0g","value":""}"#, "is not hex"), (#"{"key":"a","value":"","expires":"soon"}"#, "is not an instant"),
    (#"{"key":"a","value":"\ud800"}"#, "surrogate"), (#"{"key":"a","value":""}x"#, "bytes after the end"),
    ("[]", "not a JSON object"), (#"{"key":"a" "value":""}"#, "',' or '}' was expected"),
    (#"{"key":"a","value":"","expires":1}"#, "is not a text"), ("\u{1}", "not a JSON object"),
  ])
  func whatIsNotAnEntryIsNamed(line: String, why: String) throws {
    let scratch = try Scratch()
    let input = Data((#"{"key":"ok","value":""}"# + "\n" + line).utf8)
    let load = try scratch.run("load", scratch.store, "-", "--format", "ndjson", "--quiet", input: input)
    #expect(load.status == 1)
    #expect(load.errors.hasPrefix("esker: line 2: "))
    #expect(load.errors.contains(why))
    #expect(load.errors.split(separator: "\n").count == 1)
    #expect(try scratch.run("count", scratch.store).text == "1\n")
  }

  @Test func keysOfAnyBytesAreReachedInHexAndBase64() throws {
    let scratch = try Scratch()
    #expect(try scratch.run("put", scratch.store, "ff00", "v", "--key-encoding", "hex").status == 0)
    #expect(try scratch.run("get", scratch.store, "/wA=", "--key-encoding", "base64").text == "v")
    #expect(try scratch.run("list", scratch.store, "--key-encoding", "hex").text == "ff00\n")
    #expect(try scratch.run("get", scratch.store, "xyz", "--key-encoding", "hex").status == 64)
    #expect(try scratch.run("delete", scratch.store, "FF00", "--key-encoding", "hex").status == 0)
    #expect(try scratch.run("count", scratch.store).text == "0\n")
  }
}
