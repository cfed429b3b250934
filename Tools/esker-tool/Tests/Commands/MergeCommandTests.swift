import Esker
import Foundation
import Testing

@testable import esker_tool

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

  /// A merge that copies much to reclaim little is done, as it was asked for, and said to have been for nothing; a dry run says it before.
  @Test func littleToReclaimIsSaidToBeNotWorthIt() throws {
    let scratch = try Scratch()
    let store = try LogStore(at: scratch.store)
    for number in 0..<1_000 { try store.put(String(repeating: "v", count: 1_000), forKey: "key \(number)") }
    try store.put("v", forKey: "key 7")
    try store.close()
    let plan = try scratch.run("merge", scratch.store, "--dry-run")
    #expect(plan.text.hasPrefix("would merge 1 segment: copy 1.0"), "\(plan.text)")
    #expect(plan.text.hasSuffix("reclaim 1.04 kB; hardly worth it: 0.1 % of it is dead\n"), "\(plan.text)")
    let json = try scratch.run("merge", scratch.store, "--dry-run", "--json")
    let figures = try #require(try JSONSerialization.jsonObject(with: json.output) as? [String: Int])
    #expect(figures["bytesFreed"] == 1_040)
    let done = try scratch.run("merge", scratch.store)
    #expect(done.status == 0)
    #expect(done.text.contains(" to reclaim 1.04 kB, hardly worth it: "), "\(done.text)")
  }

  /// What a merge leaves beside the records is not what the merge has cost: a backup has neither a checkpoint nor a reserve.
  @Test func whatAFirstWriterAddsIsToldApart() throws {
    let scratch = try Scratch()
    let source = try LogStore(at: scratch.path("source"))
    for number in 0..<120_000 { try source.put("value \(number)", forKey: "key \(number % 80_000)") }
    try source.close()
    #expect(try scratch.run("restore", scratch.path("source"), scratch.store, "--copy", "-q").status == 0)
    func size(_ suffix: String) throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: scratch.store).filter { $0.hasSuffix(suffix) }.reduce(0) {
        total,
        name in
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(scratch.store)/\(name)")
        return total + (attributes[.size] as? Int ?? 0)
      }
    }
    #expect(try size(".checkpoint") == 0 && size("reserve") == 0)
    let result = try scratch.run("merge", scratch.store)
    #expect(try size(".checkpoint") > 0 && size("reserve") > 0)
    let bytes = HumanUnits.bytes(try size(".checkpoint") + size("reserve"))
    #expect(
      result.lines.last == "added a checkpoint and a reserve of \(bytes), as a store has that is written to",
      "\(result.text)"
    )
    let second = try scratch.run("put", scratch.store, "key 1", "v")
    #expect(second.status == 0)
    // They are there now.
    #expect(try !scratch.run("merge", scratch.store).text.contains("checkpoint"))
  }

  /// Damage keeps a segment from being merged; the others are, and both is said.
  @Test func segmentsThatStayBecauseOfDamageAreNamed() throws {
    let scratch = try Scratch()
    try SampleStore.make(at: scratch.store)
    let names = try SampleStore.segments(scratch.store)
    let id = try #require(try SampleStore.ids(scratch.store).dropFirst(2).first)
    let name = try #require(names.first { UInt64($0.prefix(16), radix: 16) == id })
    let url = URL(fileURLWithPath: scratch.store + "/" + name)
    var bytes = try Data(contentsOf: url)
    for offset in 8_000..<40_000 where offset % 500 == 0 { bytes[offset] ^= 1 }
    try bytes.write(to: url)
    let before = try SampleStore.ids(scratch.store).count
    for run in 0..<2 {
      let result = try scratch.run("merge", scratch.store)
      #expect(result.status == 1, "\(result.text)")
      #expect(run == 1 || result.text.hasPrefix("merged \(before - 1) segments"), "\(result.text) \(result.errors)")
      let line = try #require(result.lines.first { $0.contains("because of damage") }, "\(result.text)")
      #expect(line.hasPrefix("segment \(id) stays because of damage, with "), "\(line)")
      #expect(result.text.contains("esker verify \(scratch.store)"))
      #expect(result.text.contains("esker repair \(scratch.store) NEW"))
      #expect(try SampleStore.ids(scratch.store).contains(id))
    }
    let json = try scratch.run("merge", scratch.store, "--json")
    let line = try #require(json.lines.first)
    let report = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Int])
    #expect(report["segmentsHeld"] == 1)
  }

  /// A segment whose end is gone is no more merged, and that is not "nothing to merge".
  @Test func aSegmentWithoutItsEndIsSaidToStay() throws {
    let scratch = try Scratch()
    try SampleStore.make(at: scratch.store)
    let id = try #require(try SampleStore.ids(scratch.store).last)
    let name = try #require(try SampleStore.segments(scratch.store).first { UInt64($0.prefix(16), radix: 16) == id })
    #expect(truncate(scratch.store + "/" + name, 8_000) == 0)
    _ = try scratch.run("merge", scratch.store)
    let result = try scratch.run("merge", scratch.store)
    #expect(result.status == 1, "\(result.text)")
    #expect(result.text.contains("segment \(id) stays because of damage, with "), "\(result.text)")
  }
}
