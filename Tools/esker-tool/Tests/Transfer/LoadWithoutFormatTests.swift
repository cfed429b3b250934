import Esker
import Foundation
import Testing

/// What is loaded, and what is refused, without --format.
@Suite struct LoadWithoutFormatTests {
  private func filled() throws -> Scratch {
    let scratch = try Scratch()
    let store = try LogStore(at: scratch.store)
    try store.put("Vienna", forKey: "at")
    try store.keyspace("other, too").put("a \"b\",\n", forKey: "de", expiry: .after(.seconds(86_400)))
    try store.close()
    return scratch
  }

  @Test(arguments: ["all.ndjson", "all.jsonl", "all.csv", "all.ndjson.gz", "all.csv.gz", "all"])
  func whatDumpWroteIsLoadedWithNoOption(_ name: String) throws {
    let scratch = try filled()
    #expect(try scratch.run("dump", scratch.store, scratch.path(name)).status == 0)
    let copy = scratch.path("copy")
    let load = try scratch.run("load", copy, scratch.path(name))
    #expect(load.status == 0 && load.errors.hasPrefix("loaded 2 records"), "\(load.errors)")
    #expect(try scratch.run("diff", scratch.store, copy).status == 0)
  }

  @Test(arguments: [[], ["--format", "csv"], ["--encoding", "hex"], ["--format", "csv", "--encoding", "base64"]])
  func whatComesThroughAPipeIsToldByHowItBegins(_ options: [String]) throws {
    let scratch = try filled()
    let dump = try scratch.run(["dump", scratch.store] + options).output
    #expect(try scratch.run("load", scratch.path("copy"), "-", input: dump).status == 0)
    #expect(try scratch.run("diff", scratch.store, scratch.path("copy")).status == 0)
  }

  @Test func aDumpOfLMDBIsToldByHowItBegins() throws {
    let scratch = try Scratch()
    let dump = Data("VERSION=3\nformat=print\ntype=btree\nHEADER=END\n a\n b\nDATA=END\n".utf8)
    #expect(try scratch.run("load", scratch.store, "-", input: dump).status == 0)
    #expect(try scratch.run("get", scratch.store, "a").text == "b")
    #expect(try scratch.run("load", scratch.store, "-", "--resume", input: dump).status == 64)
  }

  @Test(arguments: [
    ("{\"id\":1}\n", "--key-field"), ("[{\"id\":1}]", "--key-field"), ("id,name\n1,a\n", "--format"),
    ("\u{1}\u{2}", "--format"), ("SQLite format 3\0 and more", "give its path"),
    ("ESKREXP1\u{1}", "--format binary"),
  ])
  func whatIsNoDumpIsRefusedWithTheWay(_ text: String, _ way: String) throws {
    let scratch = try Scratch()
    let result = try scratch.run("load", scratch.store, "-", "--keyspace", "new", input: Data(text.utf8))
    #expect(result.status == 64)
    #expect(result.errors.contains(way), "\(result.errors)")
    // Nothing was made for it.
    #expect(!FileManager.default.fileExists(atPath: scratch.store))
  }

  @Test func aLoadOfNothingLeavesNoKeyspace() throws {
    let scratch = try filled()
    let bad = Data("nothing\n".utf8)
    let new = try scratch.run("load", scratch.store, "-", "--key-field", "id", "--keyspace", "new", input: bad)
    #expect(new.status == 1)
    #expect(try !scratch.run("keyspaces", scratch.store).text.contains("new"))
    // What was loaded before the bad line stays, and so does a keyspace that was there.
    let some = Data("{\"id\":1}\nnothing\n".utf8)
    #expect(
      try scratch.run("load", scratch.store, "-", "--key-field", "id", "--keyspace", "new", input: some).status == 1
    )
    #expect(try scratch.run("count", scratch.store, "--keyspace", "new").text == "1\n")
    #expect(try scratch.run("clear", scratch.store, "--keyspace", "new").status == 0)
    #expect(
      try scratch.run("load", scratch.store, "-", "--key-field", "id", "--keyspace", "new", input: bad).status == 1
    )
    #expect(try scratch.run("keyspaces", scratch.store).text.contains("new"))
  }

  @Test(arguments: [("x.json", 64), ("x.txt", 64), ("x.json.gz", 64), ("x.tsv", 64), ("x", 0), (".x", 0), ("d.e/x", 0)])
  func aNameThatPromisesSomethingElseIsRefused(_ name: String, _ status: Int32) throws {
    let scratch = try filled()
    try FileManager.default.createDirectory(atPath: scratch.path("d.e"), withIntermediateDirectories: true)
    let result = try scratch.run("dump", scratch.store, scratch.path(name))
    #expect(result.status == status)
    #expect(FileManager.default.fileExists(atPath: scratch.path(name)) == (status == 0))
    if status != 0 {
      #expect(result.errors.contains("--format"))
      #expect(try scratch.run("dump", scratch.store, scratch.path(name), "--format", "ndjson").status == 0)
    }
  }

  @Test func helpOfDumpListsWhatItWrites() throws {
    let words = try Scratch().run("dump", "--help").text.split(whereSeparator: \.isWhitespace)
    #expect(words.joined(separator: " ").contains("(values: ndjson, csv, sqlite, folder, binary)"))
  }
}
