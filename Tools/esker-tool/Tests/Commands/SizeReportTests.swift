import Esker
import Foundation
import Testing

/// Reports that answer what is big.
@Suite struct SizeReportTests {
  private func filled() throws -> Scratch {
    let scratch = try Scratch()
    let store = try LogStore(at: scratch.store)
    try store.put("1", forKey: "a")
    let (large, many) = (try store.keyspace("large"), try store.keyspace("many"))
    try large.put([UInt8](repeating: 1, count: 5000), forKey: "b")
    for number in 0..<20 { try many.put("1", forKey: "\(number)") }
    try store.close()
    return scratch
  }

  @Test func keyspacesAreOrderedByKeysOrSize() throws {
    let scratch = try filled()
    func names(_ arguments: String...) throws -> [String] {
      let result = try scratch.run(["keyspaces", scratch.store] + arguments)
      return result.text.split(separator: "\n").dropFirst().map {
        String($0.split(separator: "\t", omittingEmptySubsequences: false).last ?? "?")
      }
    }
    #expect(try names() == ["", "large", "many"])
    #expect(try names("--sort", "keys") == ["many", "", "large"])
    #expect(try names("--sort", "size") == ["large", "many", ""])
    #expect(try scratch.run("keyspaces", scratch.store, "--sort", "size").text.contains("\tLIVE\t"))
  }

  @Test func aTerminalIsToldTheSum() throws {
    let scratch = try filled()
    let shown = try PseudoTerminal(columns: 120).run(
      ["keyspaces", scratch.store, "--sizes"],
      environment: ["NO_COLOR": "1"]
    )
    let last = try #require(shown.text.split(separator: "\n").last)
    #expect(last.contains(" 22 ") && last.hasSuffix("(all)"), "\(shown.text)")
    #expect(try !scratch.run("keyspaces", scratch.store, "--sizes").text.contains("(all)"))
  }

  @Test func bigShowsKeyspaces() throws {
    let scratch = try filled()
    let lines = try scratch.run("big", scratch.store).lines
    let start = try #require(lines.firstIndex(of: "KEYSPACES"))
    try #require(lines.count > start + 4)
    #expect(lines[start + 1] == "SIZE\tKEYS\tSHARE\tKEYSPACE")
    #expect(lines[start + 2] == "5001\t1\t0.9897\tlarge", "\(lines[start + 2])")
    #expect(lines[start + 3].hasSuffix("\tmany") && lines[start + 4].hasSuffix("\t"))
    let json = try #require(
      try JSONSerialization.jsonObject(with: scratch.run("big", scratch.store, "--json").output) as? [String: Any]
    )
    let keyspaces = try #require(json["keyspaces"] as? [[String: Any]])
    #expect(keyspaces.map { $0["name"] as? String } == ["large", "many", ""])
    #expect(try !scratch.run("big", scratch.store, "--keyspace", "many").text.contains("KEYSPACES"))
  }

  /// Why the disk is full: the parts are as much as the whole, and each has a command that helps.
  @Test(arguments: [false, true]) func statsSaysWhatTheBytesOnDiskAreFor(isLarge: Bool) throws {
    let scratch = try Scratch()
    if isLarge { try SampleStore.make(at: scratch.store) }
    let store = try LogStore(at: scratch.store)
    for number in 0..<(isLarge ? 60_000 : 40) {
      try store.put("value \(number)", forKey: "key \(number % 40_000 % 30)")
    }
    for number in 0..<(isLarge ? 60_000 : 0) { try store.put("value \(number)", forKey: "key \(number)") }
    try store.close()
    let figures = try #require(
      try JSONSerialization.jsonObject(with: scratch.run("stats", scratch.store, "--json").output) as? [String: Any]
    )
    let names = ["liveBytes", "deadBytes", "aheadBytes", "reserveBytes", "checkpointBytes", "otherBytes"]
    let parts = try names.map { try #require(figures[$0] as? Int, "\($0)") }
    let files = try FileManager.default.contentsOfDirectory(atPath: scratch.store).reduce(0) { total, name in
      let attributes = try FileManager.default.attributesOfItem(atPath: "\(scratch.store)/\(name)")
      return total + (attributes[.size] as? Int ?? 0)
    }
    #expect(parts.reduce(0, +) == files && figures["bytesOnDisk"] as? Int == files, "\(figures) \(files)")
    #expect(parts.allSatisfy { $0 >= 0 })
    #expect(parts[2] > 0)
    #expect(!isLarge || parts[4] > 0)
    let merge = try #require(
      try JSONSerialization.jsonObject(with: scratch.run("merge", scratch.store, "--dry-run", "--json").output)
        as? [String: Int]
    )
    #expect(merge["bytesFreed"] == parts[1])
    let text = try scratch.run("stats", scratch.store).text
    for title in ["live ", "dead ", "allocated ahead ", "reserve ", "checkpoint ", "headers and others ", "on disk "] {
      #expect(text.contains("\n" + title), "\(title): \(text)")
    }
    #expect(text.contains("esker big \(scratch.store)"))
    #expect(text.contains("esker merge \(scratch.store)") == (parts[1] > 0))
    #expect(try !scratch.run("stats", scratch.store, "-q").text.contains("esker big"))
  }
}
