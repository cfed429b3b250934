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
}
