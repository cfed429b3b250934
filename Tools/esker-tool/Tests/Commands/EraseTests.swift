import Foundation
import Testing

/// `merge --erase`, and `verify --erased`, which shows what it did.
@Suite struct EraseTests {
  private let scratch: Scratch

  init() throws {
    scratch = try Scratch()
    for (key, value) in [("user/1", "Anna Meier"), ("user/10", "friend of user/1"), ("user/2", "Ben")] {
      _ = try scratch.run("put", scratch.store, key, value)
    }
  }

  private func verify(_ options: String...) throws -> ToolResult {
    try scratch.run(["verify", scratch.store] + options)
  }

  @Test(arguments: ["off", "lz4"]) func aKeyIsThereUntilItIsErased(_ compression: String) throws {
    _ = try scratch.run("merge", scratch.store, "--compression", compression)
    let there = try verify("--erased", "user/1")
    #expect(there.status == 1)
    #expect(there.text.contains(": the key, in a record\n"))
    #expect(there.text.contains(": in the key of another entry: \"user/10\"\n"))
    #expect(there.text.contains(": in the value of \"user/10\"\n"))
    #expect(there.errors.hasSuffix("something is left of user/1\n"))

    _ = try scratch.run("delete", scratch.store, "user/1")
    let removed = try verify("--erased", "user/1")
    #expect(removed.status == 1)
    #expect(removed.text.contains(": the key, in a tombstone\n"))
    #expect(try verify("--erased-bytes", "Anna Meier").status == 1)

    let erased = try scratch.run("merge", scratch.store, "--erase")
    #expect(erased.status == 0 && erased.text.hasPrefix("erased all that was dead: merged "))
    let gone = try verify("--erased", "user/1")
    #expect(gone.status == 0)
    #expect(
      gone.text.contains(": in the key of another entry: \"user/10\"\n")
        && gone.text.hasSuffix("nothing is left of \"user/1\"\n")
    )
    #expect(try verify("--erased-bytes", "Anna Meier").text == "nothing is left of \"Anna Meier\"\n")
    #expect(try verify("--erased", "user/1", "--quiet").text.isEmpty)
    #expect(try scratch.run("merge", scratch.store, "--erase").text == "nothing to erase\n")
    #expect(try scratch.run("get", scratch.store, "user/10").text.hasPrefix("friend of user/1"))
  }

  @Test func theSameKeyOfAnotherKeyspaceIsAnother() throws {
    _ = try scratch.run("put", scratch.store, "only here", "x", "--keyspace", "users")
    _ = try scratch.run("put", scratch.store, "other", "x", "--keyspace", "groups")
    let elsewhere = try verify("--erased", "only here", "--keyspace", "groups")
    #expect(elsewhere.status == 0 && elsewhere.text.contains(": in the key of another entry: \"only here\"\n"))
    #expect(try verify("--erased", "only here", "--keyspace", "users").status == 1)
  }

  @Test func theSearchIsPrintedAsJSON() throws {
    let result = try verify("--erased", "user/1", "--json")
    #expect(result.status == 1)
    let lines = try result.text.split(separator: "\n").map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
    #expect(lines.compactMap { $0["place"] as? String }.sorted() == ["key", "own", "value"])
    #expect(lines.filter { $0["left"] as? Bool == true }.map { $0["place"] as? String } == ["own"])
  }

  @Test func bytesAreFoundInAnyFile() throws {
    let stray = scratch.store + "/notes"
    try Data("so Anna Meier was here".utf8).write(to: URL(fileURLWithPath: stray))
    let found = try verify("--erased-bytes", "Anna Meier")
    #expect(found.status == 1)
    #expect(found.text.contains("notes at 3: in no record\n") && found.text.contains(": in the value of \"user/1\"\n"))
  }

  @Test func whatMakesNoSenseIsRefused() throws {
    #expect(try verify("--erased", "").status == 64)
    #expect(try verify("--erased", "a", "--erased-bytes", "b").status == 64)
    #expect(try verify("--erased", "a", "--forms").status == 64)
    #expect(try scratch.run("merge", scratch.store, "--erase", "--dry-run").status == 64)
    #expect(try verify("--erased", "a", "--keyspace", "none").status == 1)
  }
}
