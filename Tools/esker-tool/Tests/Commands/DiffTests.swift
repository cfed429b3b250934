import Esker
import Foundation
import Testing

@Suite struct DiffTests {
  /// Two stores that differ in four ways.
  private func filled() throws -> Scratch {
    let scratch = try Scratch()
    for (name, isSecond) in [("a", false), ("b", true)] {
      let store = try LogStore(at: scratch.path(name))
      try store.put("same", forKey: "same")
      try store.put(isSecond ? "new" : "old", forKey: "value")
      try store.put("x", forKey: isSecond ? "new key" : "old\tkey")
      try store.put(
        "x",
        forKey: "expiry",
        expiry: .at(WallTime(millisecondsSince1970: isSecond ? 4_102_444_800_000 : 4_102_444_800_001))
      )
      let boards = try store.storage("boards", key: Int.self, of: Int.self)
      try boards.set(1, forKey: 1)
      if isSecond { try boards.set(2, forKey: 2) } else { try store.keyspace("gone").put("x", forKey: "x") }
      try store.close()
    }
    return scratch
  }

  @Test func differencesAreListed() throws {
    let scratch = try filled()
    let result = try scratch.run("diff", scratch.path("a"), scratch.path("b"))
    #expect(result.status == 1 && result.errors.isEmpty)
    #expect(result.lines.first == "CHANGE\tKEYSPACE\tKEY")
    #expect(
      result.lines.dropFirst().sorted() == [
        "added\t\tnew key", "added\tboards\t2", "expiry\t\texpiry", "removed\t\told\\tkey", "removed\tgone\tx",
        "value\t\tvalue",
      ]
    )
    let json = try scratch.run("diff", scratch.path("a"), scratch.path("b"), "--json", "--keyspace", "boards")
    #expect(json.status == 1)
    #expect(
      json.text
        == #"{"change":"added","keyspace":"boards","key":"2","before":null,"after":{"valueBytes":8,"expires":null}}"#
        + "\n"
    )
    let lax = try scratch.run("diff", scratch.path("a"), scratch.path("b"), "--ignore-expiry", "--keyspace", "")
    #expect(lax.status == 1 && lax.lines.count == 4)
  }

  @Test func equalStoresAreSilent() throws {
    let scratch = try filled()
    for arguments in [[], ["--json"], ["--keyspace", "boards"]] {
      let result = try scratch.run(["diff", scratch.path("a"), scratch.path("a")] + arguments)
      #expect(result.status == 0 && result.text.isEmpty && result.errors.isEmpty)
    }
    // However the files came to be.
    #expect(try scratch.run("backup", scratch.path("a"), scratch.path("c")).status == 0)
    #expect(try scratch.run("diff", scratch.path("a"), scratch.path("c")).status == 0)
  }

  @Test func troubleIsNoDifference() throws {
    let scratch = try filled()
    #expect(try scratch.run("diff", scratch.path("a"), scratch.path("none")).status == 66)
    #expect(try scratch.run("diff", scratch.path("none"), scratch.path("a")).status == 66)
    #expect(try scratch.run("diff", scratch.path("a"), scratch.path("b"), "--keyspace", "x").status == 64)
    let name = try #require(SampleStore.segments(scratch.path("b")).first)
    try SampleStore.flip(scratch.path("b"), name, at: 140)
    for paths in [["a", "b"], ["b", "a"]] {
      let result = try scratch.run(["diff"] + paths.map { scratch.path($0) })
      #expect(result.status == 2 && result.errors.contains(name))
    }
  }
}
