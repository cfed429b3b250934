import Esker
import Foundation
import Testing

/// What an opening finds is said, by every command.
@Suite struct DamagedStoreTests {
  static let readers = [
    ["get", "key 7"], ["list"], ["count"], ["dump"], ["stats"], ["keyspaces"], ["keyspaces", "--sizes"], ["inspect"],
    ["map"], ["merge", "--dry-run"],
  ]

  /// A closed store whose last segment lacks its unused end, so that nothing is lost.
  private func shortStore(_ scratch: Scratch) throws -> String {
    try SampleStore.make(at: scratch.store)
    let last = try #require(try SampleStore.ids(scratch.store).last)
    let name = try #require(try SampleStore.segments(scratch.store).first { UInt64($0.prefix(16), radix: 16) == last })
    let path = scratch.store + "/" + name
    let size = try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
    #expect(truncate(path, off_t(size - 1)) == 0)
    return path
  }

  @Test(arguments: readers) func aReadingCommandDoesWhatWasAskedNamesTheDamageAndExitsWith1(command: [String]) throws {
    let scratch = try Scratch()
    try SampleStore.make(at: scratch.path("whole"))
    let whole = try scratch.run([command[0], scratch.path("whole")] + command.dropFirst())
    #expect(whole.status == 0 && whole.errors.isEmpty, "\(whole.errors)")
    let path = try shortStore(scratch)
    let result = try scratch.run([command[0], scratch.store] + command.dropFirst())
    #expect(result.status == 1)
    #expect(result.errors.split(separator: "\n").count == 1, "\(result.errors)")
    #expect(result.errors.hasPrefix("esker: damage in \(path) at offset "), "\(result.errors)")
    #expect(!result.output.isEmpty)
  }

  @Test func verifyNamesItInItsReportOnly() throws {
    let scratch = try Scratch()
    let path = try shortStore(scratch)
    let result = try scratch.run("verify", scratch.store)
    #expect(result.status == 1 && result.errors.isEmpty, "\(result.errors)")
    #expect(result.text.contains("damage in \(path)"))
    #expect(result.text.contains(": 1 damaged range\n"), "\(result.text)")
  }

  @Test(arguments: [["put", "k", "v"], ["delete", "key 7"], ["merge"]])
  func aWritingCommandNamesTheDamageAndIsDone(command: [String]) throws {
    let scratch = try Scratch()
    let path = try shortStore(scratch)
    let result = try scratch.run([command[0], scratch.store] + command.dropFirst())
    #expect(result.status == 0)
    #expect(result.errors.hasPrefix("esker: damage in \(path) at offset "), "\(result.errors)")
  }

  /// A file that ends too early ends no command by a signal.
  @Test(arguments: [0, 100, 4096, 300_000, 65_536]) func noCommandDiesOfAShortFile(length: Int) throws {
    let scratch = try Scratch()
    var options = Options()
    options.segmentSize = 32 << 20
    let store = try LogStore(at: scratch.store, options: options)
    for number in 0..<20_000 { try store.put("value \(number)", forKey: "key \(number)") }
    try store.close()
    let name = try #require(try SampleStore.segments(scratch.store).first)
    #expect(truncate(scratch.store + "/" + name, off_t(length)) == 0)
    for command in Self.readers + [
      ["verify"], ["inspect", "--segment", "1"], ["inspect", "--key", "key 7"], ["inspect", "--record", "1:128"],
      ["dump", "--format", "binary"], ["backup", scratch.path("backup")], ["repair", scratch.path("repaired")],
      ["watch", "--count", "1"], ["merge"], ["put", "k", "v"], ["delete", "key 7"],
    ] {
      let result = try scratch.run([command[0], scratch.store] + command.dropFirst())
      #expect(result.status >= 0, "\(command): signal \(-result.status)")
      #expect([0, 1].contains(result.status), "\(command): \(result.status) \(result.errors)")
      // A record that is intact is shown, whatever is wrong elsewhere.
      if command.contains("--record"), result.status == 0 { continue }
      #expect(
        !result.errors.isEmpty || result.text.contains("damage") || result.text.contains("lost"),
        "\(command)"
      )
    }
  }

  /// What a crash left is a note and no error.
  @Test func aCutIsANote() throws {
    let scratch = try Scratch()
    let store = try LogStore(at: scratch.store)
    for number in 0..<100 { try store.put("value \(number)", forKey: "key \(number)") }
    // What a kill leaves, with a hole where a page was never written.
    try FileManager.default.copyItem(atPath: scratch.store, toPath: scratch.path("killed"))
    try store.close()
    let name = try #require(try SampleStore.segments(scratch.path("killed")).first)
    let url = URL(fileURLWithPath: scratch.path("killed") + "/" + name)
    var bytes = try Data(contentsOf: url)
    bytes.resetBytes(in: 2048..<2560)
    try bytes.write(to: url)
    let result = try scratch.run("count", scratch.path("killed"))
    #expect(result.status == 0)
    #expect(result.errors.hasPrefix("esker: note: "), "\(result.errors)")
    #expect(result.errors.split(separator: "\n").count == 1)
  }
}
