import Esker
import Foundation
import Testing

@Suite struct ExitCodeTests {
  /// Every command that needs a store, after its path.
  static let readers = [
    ["get", "k"], ["list"], ["count"], ["dump"], ["stats"], ["stats", "--json"], ["verify"], ["delete", "k"],
    ["inspect"], ["inspect", "--segment", "1"], ["keyspaces"], ["map"], ["merge"], ["merge", "--dry-run"],
    ["backup", "/nowhere/new"], ["restore", "/nowhere/new"], ["repair", "/nowhere/new"], ["watch", "--count", "1"],
  ]

  @Test(arguments: readers)
  func missingStoreExitsWith66AndIsNotMade(command: [String]) throws {
    let scratch = try Scratch()
    let result = try scratch.run([command[0], scratch.store] + command.dropFirst())
    #expect(result.status == 66)
    #expect(result.errors == "esker: no store at \(scratch.store)\n")
    #expect(!FileManager.default.fileExists(atPath: scratch.store))
  }

  @Test(arguments: readers)
  func emptyDirectoryIsNoStoreAndStaysEmpty(command: [String]) throws {
    let scratch = try Scratch()
    try FileManager.default.createDirectory(atPath: scratch.store, withIntermediateDirectories: false)
    #expect(try scratch.run([command[0], scratch.store] + command.dropFirst()).status == 66)
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.store).isEmpty)
  }

  @Test(arguments: readers + [["put", "k", "v"], ["load", "/dev/null", "--key-field", "id"]])
  func strangersDirectoryAndFileExitWith66Untouched(command: [String]) throws {
    let scratch = try Scratch()
    let file = try scratch.file("file", "a stranger's".utf8)
    try FileManager.default.createDirectory(atPath: scratch.path("dir"), withIntermediateDirectories: false)
    _ = try scratch.file("dir/notes.txt", "mine".utf8)
    for path in [file, scratch.path("dir")] {
      let result = try scratch.run([command[0], path] + command.dropFirst())
      #expect(result.status == 66)
      #expect(result.errors.hasPrefix("esker: \(path) "))
      #expect(result.errors.split(separator: "\n").count == 1)
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == Data("a stranger's".utf8))
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path("dir")) == ["notes.txt"])
  }

  @Test(arguments: [
    ["frobnicate"], ["get"], ["get", "s"], ["put", "s", "k", "v", "more"], ["put", "s", "k"],
    ["list", "s", "--limit", "-1"],
    ["list", "s", "--limit", "x"], ["load", "s", "f", "--delimiter", ";"],
    ["load", "s", "f", "--key-field", "id", "--acknowledge", "0"],
    ["count", "s", "--nonsense"], ["delete", "s"],
    ["verify"], ["merge", "s", "t"], ["backup", "s"], ["restore", "s"], ["repair", "s"],
    ["watch", "s", "--interval", "x"],
    ["bench", ".", "--workload", "x"], ["map", "s", "f", "--format", "png"], ["keyspaces", "s", "--size"],
  ])
  func wrongUsageExitsWith64(arguments: [String]) throws {
    let result = try Scratch().run(arguments)
    #expect(result.status == 64)
    #expect(result.output.isEmpty)
    #expect(!result.errors.isEmpty)
  }

  @Test(arguments: [
    "put", "get", "delete", "list", "first", "last", "count", "load", "dump", "stats", "verify", "inspect", "keyspaces",
    "map", "merge",
    "backup", "restore", "repair", "bench", "watch", "exists", "ttl", "touch", "persist", "increment", "clear", "drop",
    "copy", "big", "diff",
  ])
  func helpExitsWith0AndHasAnExample(command: String) throws {
    let result = try Scratch().run(command, "--help")
    #expect(result.status == 0)
    #expect(result.text.contains("Example"))
    #expect(result.text.contains("  esker \(command) ") || result.text.contains("| esker \(command) "))
    // In a terminal of 80 columns none is broken, so that it can be pasted.
    let examples = try #require(
      result.text.split(separator: "\n\nUSAGE").first?.components(separatedBy: "Example").last
    )
    let lines = examples.split(separator: "\n").dropFirst()
    #expect(lines.allSatisfy { $0.hasPrefix("  ") && $0.contains("esker ") }, "\(examples)")
  }

  @Test func missingInputFileExitsWith66AndMakesNoStore() throws {
    let scratch = try Scratch()
    #expect(try scratch.run("load", scratch.store, scratch.path("none"), "--key-field", "id").status == 66)
    #expect(!FileManager.default.fileExists(atPath: scratch.store))
  }

  @Test func directoryAsInputOfDocumentsExitsWith64() throws {
    let scratch = try Scratch()
    #expect(try scratch.run("load", scratch.store, scratch.directory.path, "--key-field", "id").status == 64)
    #expect(!FileManager.default.fileExists(atPath: scratch.store))
  }

  @Test func storeInAMissingDirectoryExitsWith74() throws {
    let scratch = try Scratch()
    #expect(try scratch.run("put", scratch.path("a/b/c"), "k", "v").status == 74)
  }

  /// Commands that change a store, after its path.
  private static let writers = [
    ["put", "k", "v"], ["delete", "k"], ["merge"], ["touch", "a", "--ttl", "1h"], ["persist", "a"], ["increment", "n"],
    ["clear"], ["drop", "x"],
  ]

  @Test func storeThatIsBeingWrittenExitsWith75AndIsReadable() throws {
    let scratch = try Scratch()
    let store = try LogStore(at: scratch.store)
    try store.put(#"{"id":"a"}"#, forKey: "a")
    for command in Self.writers + [["copy", scratch.store, "--keyspace", "", "--into", "x"]] {
      let result = try scratch.run([command[0], scratch.store] + command.dropFirst())
      #expect(result.status == 75)
      #expect(result.errors.contains("process \(ProcessInfo.processInfo.processIdentifier)"))
    }
    let get = try scratch.run("get", scratch.store, "a")
    #expect(get.status == 0 && get.text == #"{"id":"a"}"#)
    #expect(try scratch.run("count", scratch.store).text == "1\n")
    for command in [
      ["list"], ["keyspaces"], ["keyspaces", "--sizes"], ["dump"], ["stats"], ["inspect"], ["map"], ["verify"],
      ["merge", "--dry-run"], ["backup", scratch.path("backup")], ["watch", "--count", "1"], ["exists", "a"],
      ["ttl", "a"],
      ["big"], ["diff", scratch.store], ["stats", "--format", "prometheus"],
      ["list", "--where", "id = a", "--sort", "key"],
      ["count", "--match", "a*"], ["copy", scratch.path("copy"), "-q"],
    ] {
      let result = try scratch.run([command[0], scratch.store] + command.dropFirst())
      #expect(result.status == 0 && result.errors.isEmpty, "\(command): \(result.errors)")
    }
    try store.put("2", forKey: "b")
    #expect(try scratch.run("get", scratch.store, "b").status == 0)
    try store.close()
    #expect(try scratch.run("put", scratch.store, "k", "v").status == 0)
  }

  /// The tool hands a store over to others that write to it in turn, and waits for its own.
  @Test func commandsThatWriteTakeTurns() throws {
    let scratch = try Scratch()
    let load = try OpenLoad(store: scratch.store)
    #expect(try load.feed(#"{"id":"a"}"#) == "1\n")
    #expect(try scratch.run("put", scratch.store, "k", "v").status == 0)
    #expect(try load.feed(#"{"id":"b"}"#) == "2\n")
    #expect(try scratch.run("count", scratch.store).text == "3\n")
    #expect(try scratch.run("delete", scratch.store, "a").status == 0)
    #expect(try scratch.run("merge", scratch.store).status == 0)
    #expect(try load.feed(#"{"id":"c"}"#) == "3\n")
    #expect(try load.finish() == 0)
    #expect(try scratch.run("count", scratch.store).text == "3\n")
    #expect(try scratch.run("verify", scratch.store).status == 0)
  }
}
