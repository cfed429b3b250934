import Esker
import Foundation
import Testing

@testable import esker_tool

@Suite struct BigTests {
  private func filled() throws -> Scratch {
    let scratch = try Scratch()
    let store = try LogStore(at: scratch.store)
    for number in 0..<50 {
      try store.put([UInt8](repeating: 0x61, count: number), forKey: "user:\(number)")
      try store.put("x", forKey: "a/b/\(number)", expiry: .after(.seconds(number < 10 ? 30 : 4000)))
    }
    try store.put([UInt8](repeating: 0x61, count: 5000), forKey: "large")
    try store.storage("boards", key: Int.self, of: String.self).set(String(repeating: "é", count: 100), forKey: 42)
    try store.close()
    return scratch
  }

  @Test func theLargestAreShown() throws {
    let scratch = try filled()
    let result = try scratch.run("big", scratch.store, "--top", "3")
    #expect(result.status == 0 && result.errors.isEmpty)
    #expect(
      result.lines == [
        "entries  102", "keys     643 B", "values   6.48 kB", "LARGEST", "SIZE\tVALUE\tKEYSPACE\tKEY",
        "5005\t5000\t\tlarge",
        "208\t200\tboards\t42", "56\t49\t\tuser:49", "KEYSPACES", "SIZE\tKEYS\tSHARE\tKEYSPACE", "6910\t101\t0.9708\t",
        "208\t1\t0.0292\tboards", "PREFIXES OF KEYS", "SIZE\tKEYS\tSHARE\tKEYSPACE\tPREFIX",
        "1565\t50\t0.2199\t\tuser:", "340\t50\t0.0478\t\ta/", "VALUE SIZES", "UP TO\tVALUES\tBYTES\tSHARE",
        "0\t1\t0\t0.0098", "1\t51\t51\t0.5000", "2\t1\t2\t0.0098", "4\t2\t7\t0.0196", "8\t4\t26\t0.0392",
        "16\t8\t100\t0.0784", "32\t16\t392\t0.1569", "64\t17\t697\t0.1667", "128\t0\t0\t0.0000", "256\t1\t200\t0.0098",
        "512\t0\t0\t0.0000", "1024\t0\t0\t0.0000", "2048\t0\t0\t0.0000", "4096\t0\t0\t0.0000", "8192\t1\t5000\t0.0098",
        "LIFETIMES LEFT", "UP TO\tVALUES\tSHARE", "60\t10\t0.0980", "600\t0\t0.0000", "3600\t0\t0.0000",
        "21600\t40\t0.3922", "52 of the values do not expire",
      ]
    )
    let deep = try scratch.run("big", scratch.store, "--depth", "2", "--keyspace", "")
    #expect(deep.lines.contains("340\t50\t0.0492\t\ta/b/"))
    for arguments in [["--top", "0"], ["--depth", "0"]] {
      #expect(try scratch.run(["big", scratch.store] + arguments).status == 64)
    }
  }

  @Test func fieldsOfJSONKeepTheirNames() throws {
    let scratch = try filled()
    let object = try JSONSerialization.jsonObject(with: scratch.run("big", scratch.store, "--json").output)
    let report = try #require(object as? [String: Any])
    #expect(
      report.keys.sorted() == [
        "entries", "keyBytes", "keyspaces", "largest", "lifetimes", "neverExpire", "otherPrefixes", "prefixes",
        "valueBytes", "valueSizes",
      ]
    )
    let largest = try #require(report["largest"] as? [[String: Any]])
    #expect(
      largest.count == 10 && largest[1]["key"] as? String == "42" && largest[1]["keyspace"] as? String == "boards"
    )
    let sizes = try #require(report["valueSizes"] as? [[String: Int]])
    #expect(sizes.reduce(0) { $0 + ($1["values"] ?? 0) } == report["entries"] as? Int)
    #expect(sizes.reduce(0) { $0 + ($1["bytes"] ?? 0) } == report["valueBytes"] as? Int)
    let empty = try scratch.run("big", scratch.store, "--keyspace", "none")
    #expect(empty.status == 1)
  }

  @Test func prefixesTakeBoundedMemory() {
    var prefixes = PrefixSizes()
    for number in 0..<50_000 {
      prefixes.add(1, to: "p\(number):", in: "")
      prefixes.add(2, to: "large:", in: "")
    }
    let sorted = prefixes.sorted
    #expect(sorted.count <= 2 * PrefixSizes.limit && sorted.first?.name.prefix == "large:")
    #expect(sorted.first?.amount.bytes == 100_000 && sorted.first?.amount.keys == 50_000)
    #expect(sorted.reduce(prefixes.others.bytes) { $0 + $1.amount.bytes } == 150_000)
  }

  @Test(arguments: [(0, 0), (1, 1), (2, 2), (3, 4), (4, 4), (5, 8), (1024, 1024), (1025, 2048), (Int.max, 1 << 38)])
  func sizesAreCountedInPowersOfTwo(_ length: Int, _ upTo: Int) {
    var sizes = SizeHistogram()
    sizes.add(length)
    #expect(sizes.filled.map(\.upTo) == [upTo])
  }
}
