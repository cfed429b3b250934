import Esker
import Foundation
import Testing

@Suite struct KeyspacesTests {
  @Test func eachKeyspaceIsALineWithItsKeys() throws {
    let scratch = try Scratch()
    _ = try scratch.run("put", scratch.store, "a", "1")
    for key in ["x", "y"] { _ = try scratch.run("put", scratch.store, key, "1", "--keyspace", "names") }
    let result = try scratch.run("keyspaces", scratch.store)
    #expect(result.status == 0)
    #expect(
      result.lines == [
        "ID\tKEYS\tBYTES\tDEFAULT EXPIRY\tEMPTIED\tKEYS ARE\tVALUES ARE\tNAME",
        "0\t1\t40\t\t0\t\t\t", "1\t2\t96\t\t0\t\t\tnames",
      ]
    )
    let shown = try PseudoTerminal(columns: 80).run(["keyspaces", scratch.store], environment: ["NO_COLOR": "1"])
    #expect(shown.text.contains(" 0     1   40 B               -        0  -         -           (default)\n"))
  }

  @Test func expiredKeysAreCountedByStatsAlone() throws {
    let scratch = try Scratch()
    let store = try LogStore(at: scratch.store)
    let names = try store.keyspace("names")
    try names.put("1", forKey: "stays")
    try names.put("1", forKey: "gone", expiry: .at(WallTime(millisecondsSince1970: 1)))
    try store.close()
    #expect(try scratch.run("count", scratch.store, "--keyspace", "names").lines == ["1"])
    #expect(
      try scratch.run("keyspaces", scratch.store).lines.dropFirst()
        == ["0\t0\t0\t\t0\t\t\t", "1\t1\t104\t\t0\t\t\tnames"]
    )
    #expect(try scratch.run("stats", scratch.store).lines.contains("keys, with expired   2"))
  }

  @Test func aKeyspaceIsDropped() throws {
    let scratch = try Scratch()
    _ = try scratch.run("put", scratch.store, "a", "1")
    _ = try scratch.run("put", scratch.store, "x", "1", "--keyspace", "names")
    #expect(try scratch.run("keyspaces", scratch.store, "--drop", "names").status == 0)
    #expect(try scratch.run("keyspaces", scratch.store).lines.dropFirst() == ["0\t1\t40\t\t0\t\t\t"])
    #expect(try scratch.run("keyspaces", scratch.store, "--drop", "names").status != 0)
    #expect(try scratch.run("keyspaces", scratch.store, "--drop", "").status == 64)
  }

  @Test func aCapacityIsShown() throws {
    let scratch = try Scratch()
    let store = try LogStore(at: scratch.store)
    let cache = try store.keyspace("cache", capacity: Keyspace.Capacity(bytes: 1_000_000, entries: 2))
    for key in ["a", "b", "c"] { try cache.put("1", forKey: key) }
    try store.close()
    let row = try #require(try scratch.run("keyspaces", scratch.store).lines.last)
    #expect(row == "1\t2\t96\t1.00 MB, 2 keys\t\t0\t\t\tcache")
    #expect(
      try scratch.run("stats", scratch.store).lines.contains {
        $0.hasPrefix("keyspace cache ") && $0.hasSuffix(" 2 keys of 96 B, at most 1.00 MB and 2 keys")
      }
    )
    let line = try #require(try scratch.run("keyspaces", scratch.store, "--json").lines.last)
    let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    #expect(object["capacityBytes"] as? Int == 1_000_000 && object["capacityEntries"] as? Int == 2)
    #expect(object["bytes"] as? Int == 96)
  }

  @Test func keysThatAreKeptInOrderAreShown() throws {
    let scratch = try Scratch()
    let store = try LogStore(at: scratch.store)
    let names = try store.keyspace("names")
    for number in 0..<20_000 { try names.put([UInt8](repeating: 1, count: 60), forKey: "name \(number)") }
    #expect(try names.first() != nil)
    try store.close()
    let lines = try scratch.run("keyspaces", scratch.store, "--json").lines
    let bytes = try lines.map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])["orderBytes"] as? Int
    }
    #expect(bytes.count == 2 && bytes[0] == nil && (bytes[1] ?? 0) > 20_000 * 12)
    let row = try #require(try scratch.run("keyspaces", scratch.store, "--sizes").lines.last)
    #expect(row.split(separator: "\t", omittingEmptySubsequences: false)[6] == "\(bytes[1] ?? 0)")
    #expect(try scratch.run("stats", scratch.store).lines.contains { $0.hasPrefix("keys in order ") })
  }

  @Test func sizesAreCountedWhenAskedFor() throws {
    let scratch = try Scratch()
    try SampleStore.make(at: scratch.store)
    let lines = try scratch.run("keyspaces", scratch.store, "--sizes", "--json").lines
    let objects = try lines.map { line in
      let parsed = try JSONSerialization.jsonObject(with: Data(line.utf8))
      return try #require(parsed as? [String: Any])
    }
    #expect(objects.map { $0["name"] as? String } == ["", "names"])
    for object in objects {
      let usage = try #require(object["usage"] as? [String: Int])
      #expect((usage["lastingRecords"] ?? 0) + (usage["expiringRecords"] ?? 0) == object["keys"] as? Int)
    }
    #expect((objects[1]["usage"] as? [String: Int])?["expiringRecords"] == 600)
    let table = try scratch.run("keyspaces", scratch.store, "--sizes").lines
    #expect(
      table.first
        == "ID\tKEYS\tBYTES\tLIVE\tEXPIRING\tDEAD\tIN ORDER\tDEFAULT EXPIRY\tEMPTIED\tKEYS ARE\tVALUES ARE\tNAME"
    )
  }
}
