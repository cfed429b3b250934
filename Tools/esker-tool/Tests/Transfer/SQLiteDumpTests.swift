import Esker
import Foundation
import Testing

/// Databases that `dump` makes, and what the real `sqlite3` finds in them.
@Suite(.needs("sqlite3", package: "sqlite3")) struct SQLiteDumpTests {
  struct Board: Codable, Sendable { var title: String, moves: [Int] }

  private func filled() throws -> Scratch {
    let scratch = try Scratch()
    let store = try LogStore(at: scratch.store)
    try store.put("Vienna's\n\"city\"\r\0|", forKey: "at'; drop table entries; --")
    try store.put(
      [0xFF, 0, 0x0A] as [UInt8],
      forKey: [0, 1, 0xFE] as [UInt8],
      expiry: .at(WallTime(millisecondsSince1970: 4_102_444_800_001))
    )
    try store.put("", forKey: "")
    try store.storage("boards", key: Int.self, of: Board.self).set(Board(title: "Gö", moves: [1, 2]), forKey: -42)
    try store.storage("scores", of: Int.self).set(7, forKey: "anna")
    try store.storage("seen", key: Date.self, of: Bool.self).set(true, forKey: Date(timeIntervalSince1970: 0))
    // Not of the form that its keyspace records.
    try store.keyspace("scores").put("seven", forKey: "otto")
    try store.close()
    return scratch
  }

  @Test(arguments: ["all.sqlite", "all.sqlite3", "all.db"]) func whatIsDumpedIsLoadedAgain(_ name: String) throws {
    let scratch = try filled()
    let dump = try scratch.run("export", scratch.store, scratch.path(name))
    #expect(dump.status == 0 && dump.errors.hasPrefix("wrote 7 entries ("), "\(dump.errors)")
    let load = try scratch.run("import", scratch.path("copy"), scratch.path(name))
    #expect(load.status == 0 && load.errors.hasPrefix("loaded 7 records"), "\(load.errors)")
    let diff = try scratch.run("diff", scratch.store, scratch.path("copy"))
    #expect(diff.status == 0, "\(diff.text)")
    #expect(
      try scratch.run("keyspaces", scratch.store, "--json").text
        == scratch.run("keyspaces", scratch.path("copy"), "--json").text
    )
  }

  @Test func othersCanQueryIt() throws {
    let scratch = try filled()
    #expect(try scratch.run("dump", scratch.store, scratch.path("a.sqlite")).status == 0)
    func query(_ text: String) throws -> String { try scratch.succeed("sqlite3 a.sqlite \"\(text)\"") }
    #expect(try query("select value from entries where keyspace = 'scores' and key = 'anna'") == "7\n")
    #expect(try query("select typeof(value), valueForm from entries where key = 'otto'") == "blob|int64\n")
    #expect(try query("select key, value ->> 'title' from entries where keyspace = 'boards'") == "-42|Gö\n")
    #expect(try query("select expires from entries where expires not null") == "2100-01-01T00:00:00.001Z\n")
    #expect(
      try query("select typeof(key), hex(key), hex(value) from entries where expires not null")
        == "blob|0001FE|FF000A\n"
    )
    #expect(try query("pragma integrity_check") == "ok\n")
  }

  @Test func oneKeyspaceAndSomeEntries() throws {
    let scratch = try filled()
    #expect(
      try scratch.run("dump", scratch.store, scratch.path("a.sqlite"), "--keyspace", "scores", "--match", "a*").status
        == 0
    )
    #expect(try scratch.succeed("sqlite3 a.sqlite 'select keyspace, key from entries'") == "|anna\n")
    #expect(try scratch.run("load", scratch.path("copy"), scratch.path("a.sqlite"), "--keyspace", "points").status == 0)
    #expect(try scratch.run("get", scratch.path("copy"), "anna", "--keyspace", "points").text == "7")
  }

  @Test func aDumpThatFailsLeavesNothing() throws {
    let scratch = try filled()
    let path = scratch.path("a.sqlite")
    let missing = try scratch.shell("PATH=/nowhere \"$0\" dump \"$1\" '\(path)'")
    #expect(missing.status == 74 && missing.errors.hasSuffix("apt-get install sqlite3\n"), "\(missing.errors)")
    #expect(!FileManager.default.fileExists(atPath: path))
    _ = try scratch.file("a.sqlite", [1, 2, 3])
    let there = try scratch.run("dump", scratch.store, path)
    #expect(there.status == 74 && there.errors.contains("already exists"))
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data([1, 2, 3]))
    // A program that ends before it has taken everything.
    let fake = try scratch.file("sqlite3", Array("#!/bin/sh\nread line\necho 'no space' >&2\nexit 3\n".utf8))
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: fake)
    let other = scratch.path("b.sqlite")
    let failed = try scratch.shell("PATH='\(scratch.directory.path)' \"$0\" dump \"$1\" '\(other)'")
    #expect(failed.status == 74 && failed.errors.hasSuffix("sqlite3: no space\n"), "\(failed.errors)")
    #expect(!FileManager.default.fileExists(atPath: other))
  }

  @Test func aDryRunWritesNothing() throws {
    let scratch = try filled()
    for name in ["a.sqlite", "a.csv.gz", "-"] {
      let path = name == "-" ? name : scratch.path(name)
      let options = name == "a.csv.gz" ? ["--encoding", "hex"] : []
      let plan = try scratch.run(["dump", scratch.store, path, "--dry-run"] + options)
      #expect(
        plan.status == 0 && plan.text.isEmpty && plan.errors.hasPrefix("would write 7 entries ("),
        "\(plan.errors)"
      )
      #expect(!FileManager.default.fileExists(atPath: path))
    }
    for wrong in [
      ["-", "--format", "sqlite"], [scratch.path("a.sqlite.gz")], [scratch.path("a.db"), "--encoding", "hex"],
    ] {
      #expect(try scratch.run(["dump", scratch.store] + wrong).status == 64)
    }
  }
}
