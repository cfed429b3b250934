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
    try #require(result.lines.count == 7, "\(result.text)")
    #expect(result.lines[3] == "\(scratch.store)/\(name): 3 damaged ranges, 3 records", "\(result.text)")
    #expect(result.lines[4].hasSuffix(": 3 damaged ranges, 3 records"))
    #expect(result.lines[5] == "of these records, 3 are current, 0 are not needed any more, 0 unknown")
    #expect(result.lines[6] == "to save everything intact: esker repair \(quotedForShell(scratch.store)) NEW")
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

  /// A store of one segment with each key written twice, in which a current and a replaced value are damaged.
  private func halfReplaced(_ scratch: Scratch) throws -> (url: URL, bytes: Data) {
    // Each a store of its own: a record that was not synced gives its room to the next.
    for numbers in [0..<100, 100..<200] {
      let store = try LogStore(at: scratch.store)
      for number in numbers { try store.put("value \(1_000 + number)", forKey: "key \(number % 100)") }
      try store.close()
    }
    let name = try #require(try SampleStore.segments(scratch.store).first)
    let url = URL(fileURLWithPath: scratch.store + "/" + name)
    return (url, try Data(contentsOf: url))
  }

  @Test func whatIsStillNeededIsToldFromWhatIsNot() throws {
    let scratch = try Scratch()
    var (url, bytes) = try halfReplaced(scratch)
    for value in ["value 1007", "value 1108"] {
      let place = try #require(bytes.range(of: Data(value.utf8)))
      bytes[place.upperBound - 1] ^= 1
    }
    try bytes.write(to: url)
    let result = try scratch.run("verify", scratch.store)
    #expect(result.status == 1)
    try #require(result.lines.count == 6, "\(result.text)")
    #expect(result.lines[0].contains("(key \"key 7\")") && result.lines[0].hasSuffix("; not needed any more"))
    #expect(result.lines[1].contains("(key \"key 8\")") && result.lines[1].hasSuffix("; current"), "\(result.text)")
    #expect(result.lines[4] == "of these records, 1 is current, 1 is not needed any more, 0 unknown", "\(result.text)")
    let json = try scratch.run("verify", scratch.store, "--json")
    let report = try #require(try JSONSerialization.jsonObject(with: json.output) as? [String: Any])
    let damage = try #require(report["damage"] as? [[String: Any]])
    #expect(damage.map { $0["current"] as? Int } == [0, 1])
    #expect(damage.map { $0["unknown"] as? Int } == [0, 0])
    // Reading says the same.
    #expect(try scratch.run("get", scratch.store, "key 7").text == "value 1107")
    #expect(try scratch.run("get", scratch.store, "key 8").status == 1)
  }

  /// Where the opening has read the place itself, the index has nothing of it, and nobody knows what it led to.
  @Test func whatNobodyKnowsIsSaidToBeUnknown() throws {
    let scratch = try Scratch()
    var (url, bytes) = try halfReplaced(scratch)
    let place = try #require(bytes.range(of: Data("value 1150".utf8)))
    for offset in place.lowerBound - 64..<place.upperBound { bytes[offset] = 0xFF }
    try bytes.write(to: url)
    let result = try scratch.run("verify", scratch.store)
    #expect(result.status == 1)
    let line = try #require(result.lines.first { $0.hasPrefix("of these records, ") }, "\(result.text)")
    #expect(line.hasPrefix("of these records, 0 are current, 0 are not needed any more, "))
    #expect(!line.hasSuffix(", 0 unknown"), "\(result.text)")
  }

  /// A checkpoint or a footer knows what a place held that nobody can read.
  @Test func whatTheIndexKnowsOfAPlaceIsCounted() throws {
    let scratch = try Scratch()
    for numbers in [0..<50_000, 50_000..<60_000] {
      let store = try LogStore(at: scratch.store)
      for number in numbers { try store.put("value \(100_000 + number)", forKey: "key \(number % 50_000)") }
      try store.close()
    }
    let url = URL(fileURLWithPath: scratch.store + "/" + (try #require(try SampleStore.segments(scratch.store).first)))
    var bytes = try Data(contentsOf: url)
    for value in ["value 100100", "value 120100"] {
      let place = try #require(bytes.range(of: Data(value.utf8)))
      for offset in place.lowerBound - 64..<place.lowerBound + 300 { bytes[offset] = 0xFF }
    }
    try bytes.write(to: url)
    let json = try scratch.run("verify", scratch.store, "--json")
    let report = try #require(try JSONSerialization.jsonObject(with: json.output) as? [String: Any])
    let damage = try #require(report["damage"] as? [[String: Any]])
    // The first 10,000 were replaced.
    for isReplaced in [true, false] {
      let part = damage.filter { ($0["offset"] as? Int ?? 0 < bytes.count / 10) == isReplaced }
      let records = part.reduce(0) { $0 + ($1["records"] as? Int ?? 0) }
      #expect(records > 3, "\(damage)")
      #expect(part.reduce(0) { $0 + ($1["current"] as? Int ?? -1) } == (isReplaced ? 0 : records), "\(damage)")
    }
    #expect(damage.allSatisfy { $0["unknown"] as? Int == 0 })
  }

  /// Damage in many files is not named without end either.
  @Test func damageInManyFilesIsNamedOnlyInPart() throws {
    let scratch = try Scratch()
    try SampleStore.make(at: scratch.store)
    let names = try SampleStore.segments(scratch.store)
    try #require(names.count > 6)
    var damaged = 0
    for name in names {
      let url = URL(fileURLWithPath: scratch.store + "/" + name)
      var bytes = try Data(contentsOf: url)
      var place = bytes.startIndex
      while let found = bytes.range(of: Data("\"genres\"".utf8), in: place..<bytes.endIndex) {
        bytes[found.lowerBound] ^= 1
        (place, damaged) = (found.upperBound, damaged + 1)
      }
      try bytes.write(to: url)
    }
    let result = try scratch.run("verify", scratch.store)
    #expect(result.lines.count { $0.hasPrefix("damage in ") } == 100)
    #expect(result.lines.count < 120, "\(result.lines.count)")
    let last = try #require(result.lines.last { $0.contains(" more damaged range") })
    #expect(last.hasPrefix("in \(names.count - 5) other files: "), "\(last)")
    let found = try #require(
      try JSONSerialization.jsonObject(with: scratch.run("verify", scratch.store, "--json").output) as? [String: Any]
    )
    #expect((found["damage"] as? [Any])?.count == damaged)
    // What a reading command meets is capped as well, and counted.
    let dump = try scratch.run("dump", scratch.store)
    #expect(dump.status == 1)
    let errors = dump.errors.split(separator: "\n")
    #expect(errors.count { $0.hasPrefix("esker: damage in ") } == 100)
    #expect(errors.count < 120)
    let told = try #require(errors.last)
    #expect(
      told.hasPrefix("esker: ")
        && told.hasSuffix(" more places of damage, which esker verify \(scratch.store) sums up"),
      "\(told)"
    )
  }
}
