import Esker
import EskerTestSupport
import Foundation
import Testing

@testable import esker_tool

/// The small commands: one thing each, with an exit code.
@Suite struct VerbTests {
  private func filled() throws -> Scratch {
    let scratch = try Scratch()
    for (key, arguments) in [("stays", []), ("going", ["--ttl", "1h"])] as [(String, [String])] {
      #expect(try scratch.run(["put", scratch.store, key, "1"] + arguments).status == 0)
    }
    return scratch
  }

  @Test func existsAnswersByTheExitCode() throws {
    let scratch = try filled()
    let both = try scratch.run("exists", scratch.store, "stays", "going")
    #expect(both.status == 0 && both.text.isEmpty && both.errors.isEmpty)
    let none = try scratch.run("exists", scratch.store, "none")
    #expect(none.status == 1 && none.errors == "esker: no value for key \"none\"\n")
    let quiet = try scratch.run("exists", scratch.store, "none", "--quiet")
    #expect(quiet.status == 1 && quiet.errors.isEmpty)
    #expect(try scratch.run("exists", scratch.store, "stays", "none").status == 1)
    #expect(try scratch.run("exists", scratch.path("nowhere"), "stays").status == 66)
  }

  @Test func lifetimesAreShownSetAndTakenAway() throws {
    let scratch = try filled()
    #expect(try scratch.run("ttl", scratch.store, "stays").text == "never\n")
    let left = try #require(Double(scratch.run("ttl", scratch.store, "going").lines.first ?? ""))
    #expect(left > 3500 && left <= 3600)
    #expect(try scratch.run("ttl", scratch.store, "none").status == 1)
    #expect(try scratch.run("touch", scratch.store, "stays", "--expires", "2100-01-01T00:00:00Z").status == 0)
    let both = try scratch.run("ttl", scratch.store, "stays", "none", "--json")
    #expect(both.status == 1 && both.lines.count == 1)
    #expect(both.text.hasPrefix(#"{"key":"stays","expires":"2100-01-01T00:00:00.000Z","seconds":"#))
    #expect(try scratch.run("touch", scratch.store, "stays", "--ttl", "1ms").status == 0)
    #expect(try eventually { try scratch.run("exists", scratch.store, "stays", "--quiet").status == 1 })
    #expect(try scratch.run("persist", scratch.store, "going").status == 0)
    #expect(try scratch.run("ttl", scratch.store, "going").text == "never\n")
    #expect(try scratch.run("get", scratch.store, "going").text == "1")
    for arguments in [["touch", scratch.store, "none", "--ttl", "1h"], ["persist", scratch.store, "none"]] {
      #expect(try scratch.run(arguments).status == 1)
    }
    for arguments in [[], ["--ttl", "1h", "--expires", "2100-01-01T00:00:00Z"], ["--expires", "tomorrow"]] {
      #expect(try scratch.run(["touch", scratch.store, "going"] + arguments).status == 64)
    }
  }

  @Test func countersCount() throws {
    let scratch = try Scratch()
    let store = try LogStore(at: scratch.store)
    try store.storage("hits", of: Int.self).set(40, forKey: "home")
    try store.storage("large", key: Int.self, of: UInt64.self).set(.max - 1, forKey: 7)
    try store.storage("names", of: String.self).set("x", forKey: "home")
    try store.close()
    #expect(try scratch.run("increment", scratch.store, "home", "--keyspace", "hits").text == "41\n")
    #expect(try scratch.run("increment", scratch.store, "home", "--by", "-50", "--keyspace", "hits").text == "-9\n")
    #expect(try scratch.run("get", scratch.store, "home", "--keyspace", "hits").text == "-9")
    #expect(try scratch.run("increment", scratch.store, "7", "--keyspace", "large").text == "\(UInt64.max)\n")
    #expect(try scratch.run("increment", scratch.store, "new").text == "1\n")
    let names = try scratch.run("increment", scratch.store, "home", "--keyspace", "names")
    #expect(names.status == 64 && names.errors.contains("values of the form utf8, which are not counters"))
    _ = try scratch.run("put", scratch.store, "text", "7")
    let text = try scratch.run("increment", scratch.store, "text")
    #expect(
      text.status == 64 && text.errors == "esker: the value of key \"text\" is not a counter, which has 8 bytes\n"
    )
  }

  @Test func keyspacesAreEmptiedAndRemoved() throws {
    let scratch = try filled()
    _ = try scratch.run("put", scratch.store, "a", "1", "--keyspace", "other")
    #expect(try scratch.run("clear", scratch.store).errors == "removed 2 entries\n")
    #expect(try scratch.run("count", scratch.store).text == "0\n")
    #expect(try scratch.run("count", scratch.store, "--keyspace", "other").text == "1\n")
    #expect(try scratch.run("clear", scratch.store, "--keyspace", "other", "--json").text == "{\"removed\":1}\n")
    #expect(try scratch.run("clear", scratch.store, "--keyspace", "none").status == 1)
    #expect(try scratch.run("drop", scratch.store, "other").status == 0)
    #expect(try scratch.run("drop", scratch.store, "other").status == 1)
    #expect(try scratch.run("drop", scratch.store, "").status == 64)
    #expect(try scratch.run("clear", scratch.path("nowhere")).status == 66)
  }

  @Test func copiesKeepExpiryAndForms() throws {
    let scratch = try filled()
    let store = try LogStore(at: scratch.store)
    let scores = try store.storage("scores", key: Int.self, of: Int.self)
    for number in 0..<10 { try scores.set(number * number, forKey: number) }
    try store.close()
    let copy = scratch.path("copy")
    let all = try scratch.run("copy", scratch.store, copy)
    #expect(all.status == 0 && all.errors.hasPrefix("copied 12 entries ("))
    #expect(try scratch.run("dump", copy).lines.sorted() == scratch.run("dump", scratch.store).lines.sorted())
    let some = try scratch.run(
      "copy",
      scratch.store,
      copy,
      "--keyspace",
      "scores",
      "--into",
      "large",
      "--where",
      ". > 30",
      "--json"
    )
    #expect(some.text == "{\"entries\":4,\"bytes\":32}\n")
    #expect(
      try scratch.run("list", copy, "--keyspace", "large", "--values", "--sort", "key").text
        == "6\t36\n7\t49\n8\t64\n9\t81\n"
    )
    #expect(try scratch.run("copy", scratch.store, scratch.store).status == 64)
    #expect(try scratch.run("copy", scratch.store, copy, "--into", "x").status == 64)
    #expect(
      try scratch.run("copy", scratch.store, scratch.store, "--keyspace", "scores", "--into", "twice", "--limit", "3")
        .status == 0
    )
    #expect(try scratch.run("count", scratch.store, "--keyspace", "twice").text == "3\n")
    // Into keys and values of another kind.
    let wrong = try scratch.run("copy", scratch.store, copy, "--keyspace", "scores", "--into", "large")
    #expect(wrong.status == 0)
    let opened = try LogStore(at: copy)
    _ = try opened.storage("texts", of: String.self)
    try opened.close()
    let refused = try scratch.run("copy", scratch.store, copy, "--keyspace", "scores", "--into", "texts")
    #expect(refused.status == 64 && refused.errors.contains("records the form utf8"))
    #expect(try scratch.run("copy", scratch.path("nowhere"), scratch.path("new")).status == 66)
    #expect(!FileManager.default.fileExists(atPath: scratch.path("new")))
  }

  // MARK: Names

  @Test func aliasesAreCommands() throws {
    let scratch = try Scratch()
    #expect(try scratch.run("set", scratch.store, "a", "1").status == 0)
    #expect(try scratch.run("ls", scratch.store).text == "a\n")
    #expect(try scratch.run("info", scratch.store).status == 0)
    #expect(try scratch.run("export", scratch.store, scratch.path("all.csv")).status == 0)
    #expect(try scratch.run("import", scratch.store, scratch.path("all.csv")).status == 0)
    #expect(try scratch.run("rm", scratch.store, "a").status == 0)
    #expect(try scratch.run("del", scratch.store, "a").status == 1)
  }

  @Test(
    arguments: [
      ("lsit", "list"), ("puts", "put"), ("stat", "stats"), ("keyspace", "keyspaces"), ("compact", "merge"),
      ("GET", "get"),
      ("incr", "increment"), ("verfiy", "verify"), ("backp", "backup"), ("insp", "inspect"),
    ]
  )
  func mistypedCommandsAreGuessed(_ word: String, _ meant: String) throws {
    let scratch = try Scratch()
    for arguments in [[word, scratch.store], ["help", word]] {
      let result = try scratch.run(arguments)
      #expect(result.status == 64)
      #expect(result.errors == "esker: no command \"\(word)\": did you mean \"\(meant)\"?\n")
    }
  }

  @Test func whatIsLikeNothingIsNotGuessed() throws {
    let scratch = try Scratch()
    #expect(try scratch.run("frobnicate", scratch.store).errors == "esker: no command \"frobnicate\": see esker help\n")
    #expect(try scratch.run("help").status == 0 && scratch.run("help", "list").status == 0)
    #expect(try scratch.run("--version").status == 0 && scratch.run().status == 0)
  }
}
