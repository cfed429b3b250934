import Esker
import Foundation
import Testing

@testable import esker_tool

/// What a verification comes to, and what to do then.
@Suite struct VerifyCommandTests {
  /// A closed store in which a byte of each of so many values is wrong.
  private func damaged(_ scratch: Scratch, values: Int) throws {
    let store = try LogStore(at: scratch.store)
    for number in 0..<500 { try store.put("value \(1_000 + number)", forKey: "key \(number)") }
    try store.close()
    let name = try #require(try SampleStore.segments(scratch.store).first)
    let url = URL(fileURLWithPath: scratch.store + "/" + name)
    var bytes = try Data(contentsOf: url)
    for number in 0..<values {
      let place = try #require(bytes.range(of: Data("value \(1_000 + number)".utf8)))
      bytes[place.lowerBound] ^= 1
    }
    try bytes.write(to: url)
  }

  @Test func whatWasFoundIsSummedUpWithTheCommandThatHelps() throws {
    let scratch = try Scratch()
    try damaged(scratch, values: 3)
    let result = try scratch.run("verify", scratch.store)
    #expect(result.status == 1)
    let name = try #require(try SampleStore.segments(scratch.store).first)
    try #require(result.lines.count == 6, "\(result.text)")
    #expect(result.lines[3] == "\(scratch.store)/\(name): 3 damaged ranges, 3 records", "\(result.text)")
    #expect(result.lines[4].hasSuffix(": 3 damaged ranges, 3 records"))
    #expect(result.lines[5] == "to save everything intact: esker repair \(quotedForShell(scratch.store)) NEW")
    // The command does as is said.
    let repair = try scratch.run("repair", scratch.store, scratch.path("new"))
    #expect(
      repair.lines.last?.hasSuffix("497 entries from 1 segment, 3 lost ranges, 3 records") == true,
      "\(repair.text)"
    )
    #expect(try scratch.run("verify", scratch.path("new")).status == 0)
    let report = try #require(
      try JSONSerialization.jsonObject(with: scratch.run("verify", scratch.store, "--json").output) as? [String: Any]
    )
    let damage = try #require(report["damage"] as? [[String: Any]])
    #expect(damage.map { $0["records"] as? Int } == [1, 1, 1])
  }

  /// Many ranges are counted and not all named; JSON has them all.
  @Test func manyRangesOfAFileAreNamedOnlyInPart() throws {
    let scratch = try Scratch()
    try damaged(scratch, values: 300)
    let result = try scratch.run("verify", scratch.store)
    #expect(result.status == 1)
    #expect(result.lines.count < 30)
    #expect(result.lines.contains { $0.hasSuffix(": 280 more damaged ranges, which --json names") }, "\(result.text)")
    #expect(result.lines.contains { $0.hasSuffix(": 300 damaged ranges, 300 records") })
    let json = try scratch.run("verify", scratch.store, "--json")
    let report = try #require(try JSONSerialization.jsonObject(with: json.output) as? [String: Any])
    #expect((report["damage"] as? [Any])?.count == 300)
    let repair = try scratch.run("repair", scratch.store, scratch.path("new"))
    #expect(repair.lines.count < 30)
    #expect(repair.lines.contains { $0.hasSuffix(": 280 more lost ranges, which --json names") }, "\(repair.text)")
  }

  @Test func aPathWithBlanksIsQuotedInTheCommand() throws {
    let scratch = try Scratch()
    try damaged(scratch, values: 1)
    let path = scratch.path("it's a store")
    try FileManager.default.moveItem(atPath: scratch.store, toPath: path)
    let result = try scratch.run("verify", path)
    #expect(
      result.lines.last == "to save everything intact: esker repair '\(scratch.directory.path)/it'\\''s a store' NEW"
    )
  }

  /// What the next writer puts right by itself needs no repair, which would leave the store as it is.
  @Test(arguments: ["manifest", "checkpoint"]) func whatAWriterPutsRightNeedsNoRepair(what: String) throws {
    let scratch = try Scratch()
    let store = try LogStore(at: scratch.store)
    for number in 0..<60_000 { try store.put("value \(number)", forKey: "key \(number)") }
    try store.close()
    let names = try FileManager.default.contentsOfDirectory(atPath: scratch.store)
    let name = try #require(what == "manifest" ? "manifest.a" : names.first { $0.hasSuffix(".checkpoint") })
    try SampleStore.flip(scratch.store, name, at: 64)
    let result = try scratch.run("verify", scratch.store)
    #expect(result.status == 1)
    #expect(!result.text.contains("esker repair"), "\(result.text)")
    #expect(result.lines.last == "no entry is lost: the next command that writes puts it right", "\(result.text)")
    #expect(try scratch.run("put", scratch.store, "k", "v").status == 0)
    let after = try scratch.run("verify", scratch.store)
    #expect(after.status == 0, "\(after.text)")
  }

  @Test func aCleanStoreNeedsNothing() throws {
    let scratch = try Scratch()
    #expect(try scratch.run("put", scratch.store, "k", "v").status == 0)
    let result = try scratch.run("verify", scratch.store)
    #expect(result.lines.count == 1 && result.text.hasSuffix(": no damage\n"))
  }
}
