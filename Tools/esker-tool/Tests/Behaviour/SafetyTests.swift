import Esker
import Foundation
import Testing

/// What keeps an operator from losing something.
@Suite struct SafetyTests {
  private func filled() throws -> Scratch {
    let scratch = try Scratch()
    let store = try LogStore(at: scratch.store)
    for number in 0..<30 { try store.put("\(number)", forKey: "key \(number)") }
    try store.keyspace("names").put("1", forKey: "a")
    try store.close()
    return scratch
  }

  @Test(arguments: ["backup", "copy", "repair"]) func nothingIsMadeInsideAStore(_ command: String) throws {
    let scratch = try filled()
    try FileManager.default.createSymbolicLink(atPath: scratch.path("link"), withDestinationPath: scratch.store)
    let before = try FileManager.default.contentsOfDirectory(atPath: scratch.store)
    for place in ["store/bk", "store/a/b/c", "link/bk", "other/../store/bk"] {
      let result = try scratch.run(command, scratch.store, scratch.path(place))
      #expect(result.status == 64 && result.errors.contains("is inside the store"), "\(place): \(result.errors)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.store) == before)
    // What only has the same beginning is another.
    #expect(try scratch.run(command, scratch.store, scratch.store + "-2").status == 0)
  }

  @Test func nothingIsRestoredInsideABackup() throws {
    let scratch = try filled()
    #expect(try scratch.run("backup", scratch.store, scratch.path("bk")).status == 0)
    #expect(try scratch.run("restore", scratch.path("bk"), scratch.path("bk/new")).status == 64)
    #expect(try scratch.run("restore", scratch.path("bk"), scratch.path("new")).status == 0)
  }

  @Test func aBackupOfADamagedStoreSaysWhatHelps() throws {
    let scratch = try filled()
    try SampleStore.flip(scratch.store, SampleStore.segments(scratch.store)[0], at: 160)
    let result = try scratch.run("backup", scratch.store, scratch.path("bk"))
    #expect(result.status == 1)
    let lines = result.errors.split(separator: "\n")
    #expect(lines.first?.hasPrefix("esker: damage in ") == true)
    let end = "to save everything intact: esker repair \(scratch.store) NEW"
    #expect(lines.last == "esker: nothing was copied, as the store is damaged; \(end)", "\(result.errors)")
    #expect(!FileManager.default.fileExists(atPath: scratch.path("bk")))
    #expect(try scratch.run("backup", scratch.store, scratch.path("bk"), "--json").text.contains("\"exitCode\":1"))
  }

  @Test func damageIsToldOfAFileAFewTimes() throws {
    let scratch = try Scratch()
    let store = try LogStore(at: scratch.store)
    for number in 0..<200 { try store.put([UInt8](repeating: 7, count: 1000), forKey: "key \(number)") }
    try store.close()
    let name = try #require(try SampleStore.segments(scratch.store).first)
    let url = URL(fileURLWithPath: scratch.store).appendingPathComponent(name)
    var bytes = try Data(contentsOf: url)
    for record in stride(from: 2000, to: 190_000, by: 3000) { bytes[record] ^= 1 }
    try bytes.write(to: url)
    let result = try scratch.run("list", scratch.store, "--values")
    #expect(result.status == 1)
    let lines = result.errors.split(separator: "\n")
    #expect(lines.count == 21, "\(lines.count)")
    #expect(
      lines.last?.hasSuffix("more places of damage, which esker verify \(scratch.store) sums up") == true,
      "\(result.errors)"
    )
  }

  @Test(arguments: [["clear"], ["drop", "names"], ["keyspaces", "--drop", "names"]])
  func aRemovalOfMuchAsksOnATerminal(_ command: [String]) throws {
    let scratch = try filled()
    let line = [command[0], scratch.store] + command.dropFirst()
    let before = try scratch.run("dump", scratch.store).lines.count
    for answer in ["n\n", "\n", "\u{4}"] {
      let asked = try PseudoTerminal(columns: 80).run(line, typing: answer)
      #expect(asked.status == 1 && asked.text.contains("? [y/N] "), "\(answer): \(asked.text)")
      #expect(asked.text.contains("nothing was removed"))
      #expect(
        asked.text.contains(command.contains("names") ? "\"names\" and its 1 entry" : "all 30 entries of the default")
      )
      #expect(try scratch.run("dump", scratch.store).lines.count == before)
    }
    #expect(try PseudoTerminal(columns: 80).run(line, typing: "y\n").status == 0)
    #expect(try scratch.run("dump", scratch.store).lines.count < before)
    // Nobody is asked where nobody would answer, nor with --yes.
    let other = try filled()
    #expect(try scratch.run([command[0], other.store] + command.dropFirst()).status == 0)
    let third = try filled()
    let told = try PseudoTerminal(columns: 80).run(
      [command[0], third.store] + command.dropFirst() + ["--yes"],
      typing: ""
    )
    #expect(told.status == 0 && !told.text.contains("[y/N]"))
  }
}
