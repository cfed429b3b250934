import Esker
import Foundation
import Testing

@Suite struct ListingTests {
  private func filled() throws -> Scratch {
    let scratch = try Scratch()
    let lines = (0..<100).map { "{\"id\":\"\($0 % 2 == 0 ? "even" : "odd"):\($0)\"}\n" }.joined()
    #expect(try scratch.run("load", scratch.store, "-", "--key-field", "id", input: Data(lines.utf8)).status == 0)
    return scratch
  }

  @Test func listPrintsEachKeyOnce() throws {
    let scratch = try filled()
    let keys = try scratch.run("list", scratch.store).lines
    #expect(keys.sorted() == (0..<100).map { "\($0 % 2 == 0 ? "even" : "odd"):\($0)" }.sorted())
    #expect(try scratch.run("list", scratch.store, "--prefix", "odd:").lines.count == 50)
    #expect(try scratch.run("list", scratch.store, "--prefix", "none").text.isEmpty)
    #expect(try scratch.run("list", scratch.store, "--limit", "7").lines.count == 7)
    #expect(try scratch.run("list", scratch.store, "--limit", "0").lines.isEmpty)
    #expect(try scratch.run("list", scratch.store, "--prefix", "even:1", "--limit", "1000").lines.count == 5)
  }

  @Test func fromOneKeyToAnotherAreThoseBetweenAndTheFirst() throws {
    let scratch = try filled()
    let store = scratch.store
    let some = ["--from", "even:2", "--to", "even:30"]
    let expected = ["even:2", "even:20", "even:22", "even:24", "even:26", "even:28"]
    #expect(try scratch.run(["list", store, "--sort", "key"] + some).lines == expected)
    #expect(try scratch.run(["list", store, "--sort", "key", "--reverse", "--limit", "1"] + some).lines == ["even:28"])
    #expect(try scratch.run(["count", store, "--match", "*2"] + some).text == "2\n")
    #expect(try scratch.run("count", store, "--from", "odd").text == "50\n")
    #expect(try scratch.run("count", store, "--to", "odd").text == "50\n")
    #expect(try scratch.run("count", store, "--from", "z").text == "0\n")
    #expect(try scratch.run(["dump", store] + some).lines.count == 6)
    #expect(try scratch.run(["copy", store, scratch.path("copy")] + some).status == 0)
    #expect(try scratch.run("list", scratch.path("copy"), "--sort", "key").lines == expected)
    #expect(try scratch.run(["delete", store] + some).status == 0)
    #expect(try scratch.run("count", store).text == "94\n")
    let hex = try scratch.run("list", store, "--key-encoding", "hex", "--from", "6f64643a3939")
    #expect(hex.lines == ["6f64643a3939"])
    _ = try scratch.run("put", store, "odd:7", "x", "--keyspace", "names")
    let all = try scratch.run("list", store, "--all-keyspaces", "--from", "odd:69", "--to", "odd:73")
    #expect(all.lines.sorted() == ["\todd:69", "\todd:7", "\todd:71", "names\todd:7"])
    let notHex = try scratch.run("list", store, "--key-encoding", "hex", "--to", "xyz")
    #expect(notHex.status == 64 && notHex.text.isEmpty)
  }

  @Test func theFirstAndTheLastAreThoseInOrder() throws {
    let scratch = try filled()
    let store = scratch.store
    #expect(try scratch.run("first", store).text == "even:0\n")
    #expect(try scratch.run("last", store).text == "odd:99\n")
    #expect(try scratch.run("last", store, "-n", "3").lines == ["odd:99", "odd:97", "odd:95"])
    #expect(try scratch.run("first", store, "--prefix", "odd", "--limit", "2").lines == ["odd:1", "odd:11"])
    #expect(try scratch.run("first", store, "--from", "even:98").text == "even:98\n")
    #expect(try scratch.run("last", store, "--to", "odd").text == "even:98\n")
    let json = try scratch.run("last", store, "--json", "--values").text
    #expect(json.contains(#""key":"odd:99""#))
    let none = try scratch.run("first", store, "--prefix", "none")
    #expect(none.status == 1 && none.text.isEmpty)
    #expect(try scratch.run("first", store, "--keyspace", "none").status == 1)
    #expect(try scratch.run("last", scratch.path("nowhere")).status == 66)
  }

  /// Keys that the checkpoint has in order are not all read: damage elsewhere is not met.
  @Test func whatIsInOrderIsReadFromThere() throws {
    let scratch = try Scratch()
    let path = scratch.store
    do {
      var options = Options()
      options.segmentSize = 64 << 10
      let store = try LogStore(at: path, options: options)
      for number in 0..<12_000 { try store.put("value \(number)", forKey: "key \(100_000 + number)") }
      #expect(try store.first() != nil)
      try store.close()
    }
    // Not in the last segment, which every opening reads.
    let files = try FileManager.default.contentsOfDirectory(atPath: path).sorted().filter { $0.hasSuffix(".segment") }
    #expect(files.count > 5)
    for file in files.map({ URL(fileURLWithPath: path + "/" + $0) }) {
      var contents = try Data(contentsOf: file)
      guard let place = contents.range(of: Data("key 105000".utf8)) else { continue }
      contents[place.lowerBound] ^= 1
      try contents.write(to: file)
    }
    func run(_ arguments: String...) throws -> ToolResult {
      try scratch.run([arguments[0], path] + arguments.dropFirst())
    }
    #expect(try run("list").status == 1)
    for arguments in [["list", "--sort", "key", "-n", "1"], ["first"], ["list", "--to", "key 100001"]] {
      let result = try scratch.run([arguments[0], path] + arguments.dropFirst())
      #expect(result.status == 0 && result.text == "key 100000\n" && result.errors.isEmpty)
    }
    #expect(try run("list", "--sort", "key", "--reverse", "-n", "2").lines == ["key 111999", "key 111998"])
    #expect(try run("count", "--prefix", "key 1061").text == "100\n")
    let range = ["--from", "key 106100", "--to", "key 106200"]
    #expect(try scratch.run(["dump", path] + range).lines.count == 100)
    #expect(try scratch.run(["delete", path] + range + ["--quiet"]).status == 0)
    #expect(try run("count", "--from", "key 106").text == "5900\n")
    // Here it is met.
    let met = try run("count", "--from", "key 1049", "--to", "key 1051")
    #expect(met.status == 1 && met.text == "199\n")
  }

  @Test func dumpedLinesAreJSONAndLoseNothing() throws {
    let scratch = try Scratch()
    let binary = Data([0xFF, 0x00, 0x80])
    _ = try scratch.run("put", scratch.store, "text", "a\"\\\n\t\u{1}é🏔")
    _ = try scratch.run("put", scratch.store, "binary", "-", input: binary)
    _ = try scratch.run("put", scratch.store, "empty", "")
    let began = Date()
    _ = try scratch.run("put", scratch.store, "going", "x", "--ttl", "1d")
    _ = try scratch.run("put", scratch.store, "named", "y", "--keyspace", "names")
    let dump = try scratch.run("dump", scratch.store)
    #expect(dump.status == 0)
    var entries: [String: [String: Any]] = [:]
    for line in dump.lines {
      let parsed = try JSONSerialization.jsonObject(with: Data(line.utf8))
      let object = try #require(parsed as? [String: Any])
      let key = try #require(object["key"] as? String)
      entries[key] = object
    }
    #expect(entries.count == 5)
    #expect(entries["text"]?["value"] as? String == "a\"\\\n\t\u{1}é🏔")
    #expect(entries["text"]?["expires"] is NSNull)
    #expect(entries["binary"]?["value"] == nil)
    #expect(entries["binary"]?["value64"] as? String == binary.base64EncodedString())
    #expect(entries["empty"]?["value"] as? String == "")
    #expect(entries["named"]?["keyspace"] as? String == "names")
    #expect(entries["text"]?["keyspace"] == nil)
    let formatter = ISO8601DateFormatter()
    formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
    let text = try #require(entries["going"]?["expires"] as? String)
    let expires = try #require(formatter.date(from: text))
    let life = 86_400.0
    // In milliseconds, as it is stored.
    #expect(expires >= began.addingTimeInterval(life - 0.001) && expires <= Date().addingTimeInterval(life + 0.001))
  }

  @Test func dumpOfOneKeyspaceLeavesTheOthersOut() throws {
    let scratch = try Scratch()
    _ = try scratch.run("put", scratch.store, "a", "1")
    _ = try scratch.run("put", scratch.store, "b", "2", "--keyspace", "names")
    #expect(
      try scratch.run("dump", scratch.store, "--keyspace", "names").text
        == #"{"key":"b","value":"2","expires":null}"# + "\n"
    )
    #expect(try scratch.run("list", scratch.store, "--keyspace", "names").text == "b\n")
    #expect(try scratch.run("list", scratch.store).text == "a\n")
  }

  @Test func dumpCanBeLoadedAgain() throws {
    let scratch = try filled()
    let dump = try scratch.run("dump", scratch.store)
    let copy = scratch.path("copy")
    #expect(try scratch.run("load", copy, "-", "--key-field", "key", input: dump.output).status == 0)
    #expect(
      try scratch.run("list", copy).lines.sorted() == scratch.run("list", scratch.store).lines.sorted()
    )
    let line = try #require(dump.lines.first { $0.contains("\"odd:17\"") })
    #expect(try scratch.run("get", copy, "odd:17").text == line)
  }

  @Test func countingAClosedStoreReadsNoRecords() throws {
    let scratch = try Scratch()
    let lines = (0..<50_000).map { "{\"id\":\"key \($0)\"}\n" }.joined()
    #expect(try scratch.run("load", scratch.store, "-", "--key-field", "id", input: Data(lines.utf8)).status == 0)
    let names = try FileManager.default.contentsOfDirectory(atPath: scratch.store)
    #expect(names.contains { $0.hasSuffix(".checkpoint") })
    // Who reads the record finds the damage.
    try SampleStore.flip(scratch.store, #require(SampleStore.segments(scratch.store).first), at: 160)
    let count = try scratch.run("count", scratch.store)
    #expect(count.status == 0 && count.text == "50000\n" && count.errors.isEmpty)
    #expect(try scratch.run("count", scratch.store, "--prefix", "key").status == 1)
  }
}
