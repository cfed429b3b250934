import Foundation
import Testing

@Suite struct MergeCommandTests {
  @Test func mergeGivesSpaceBackAndKeepsTheValues() throws {
    let scratch = try Scratch()
    let value = String(repeating: "v", count: 20_000)
    for _ in 0..<10 { _ = try scratch.run("put", scratch.store, "a", value) }
    _ = try scratch.run("put", scratch.store, "b", "kept")
    let result = try scratch.run("merge", scratch.store)
    #expect(result.status == 0)
    #expect(result.text.hasPrefix("merged "))
    #expect(try scratch.run("get", scratch.store, "b").text == "kept")
    let stats = try scratch.run("stats", scratch.store, "--json")
    let report = try #require(try JSONSerialization.jsonObject(with: stats.output) as? [String: Any])
    #expect(report["deadBytes"] as? Int == 0)
    #expect(report["keys"] as? Int == 2)
  }

  @Test func whatAMergeSaysIsOnDiskIsThereAfterwards() throws {
    let scratch = try Scratch()
    func size() throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: scratch.store).reduce(0) { total, name in
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(scratch.store)/\(name)")
        return total + (attributes[.size] as? Int ?? 0)
      }
    }
    let value = String(repeating: "v", count: 100_000)
    for _ in 0..<10 { _ = try scratch.run("put", scratch.store, "a", value) }
    let before = try size()
    let result = try scratch.run("merge", scratch.store, "--json")
    let report = try #require(try JSONSerialization.jsonObject(with: result.output) as? [String: Int])
    #expect(report["bytesOnDiskBefore"] == before)
    #expect(try report["bytesOnDisk"] == size())
    #expect(try scratch.run("merge", scratch.store).text == "nothing to merge\n")
  }

  @Test func mergeOfNothingIsNoSuchStore() throws {
    let scratch = try Scratch()
    #expect(try scratch.run("merge", scratch.store).status == 66)
  }
}
