import Esker
import Foundation
import Testing

/// What an operator asks first: who has the store, what expires, what has changed.
@Suite struct OperatorQuestionTests {
  private func object(_ text: some StringProtocol) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  @Test func theWriterIsNamed() throws {
    let scratch = try Scratch()
    let load = try OpenLoad(store: scratch.store)
    #expect(try load.feed(#"{"id":1}"#) == "1\n")
    let process = Int(load.processIdentifier)
    for command in ["stats", "inspect"] {
      let report = try object(scratch.run(command, scratch.store, "--json").text)
      #expect(report["writerProcess"] as? Int == process, "\(command)")
      #expect(try scratch.run(command, scratch.store).text.contains("process \(process)\n"))
    }
    #expect(try load.finish() == 0)
    for command in ["stats", "inspect"] {
      #expect(try object(scratch.run(command, scratch.store, "--json").text)["writerProcess"] is NSNull)
    }
    #expect(try scratch.run("stats", scratch.store).lines.contains { $0.hasPrefix("writer ") && $0.hasSuffix(" none") })
  }

  @Test func aKilledWriterIsNone() throws {
    let scratch = try Scratch()
    let load = try OpenLoad(store: scratch.store)
    #expect(try load.feed(#"{"id":1}"#) == "1\n")
    load.kill9()
    #expect(try object(scratch.run("stats", scratch.store, "--json").text)["writerProcess"] is NSNull)
    #expect(try scratch.run("inspect", scratch.store).lines.contains("state           not closed"))
  }

  private func expiring() throws -> Scratch {
    let scratch = try Scratch()
    let store = try LogStore(at: scratch.store)
    try store.put("1", forKey: "soon\t", expiry: .after(.seconds(1800)))
    try store.put("22", forKey: "later", expiry: .at(WallTime(millisecondsSince1970: 4_102_444_800_000)))
    try store.put("333", forKey: "never")
    try store.close()
    return scratch
  }

  @Test func whatExpiresSoonIsFound() throws {
    let scratch = try expiring()
    #expect(try scratch.run("list", scratch.store, "--expiring-within", "1h").text == "soon\t\n")
    #expect(try scratch.run("count", scratch.store, "--expiring-within", "10m").text == "0\n")
    #expect(try scratch.run("dump", scratch.store, "--expiring-within", "1h").lines.count == 1)
    #expect(
      try scratch.run("delete", scratch.store, "--expiring-within", "1h", "--dry-run").errors
        == "would remove 1 entry\n"
    )
    #expect(try scratch.run("list", scratch.store, "--expiring-within", "soon").status == 64)
    let lines = try scratch.run("list", scratch.store, "--expires", "--values", "--sort", "expiry").lines
    try #require(lines.count == 3)
    #expect(lines[0].hasPrefix("soon\\t\t20") && lines[0].hasSuffix("Z\t1"))
    #expect(lines[1...] == ["later\t2100-01-01T00:00:00.000Z\t22", "never\tnever\t333"])
  }

  @Test func keysAndValuesArePrintedAsJSON() throws {
    let scratch = try expiring()
    let list = try scratch.run("list", scratch.store, "--json", "--sort", "expiry").lines
    try #require(list.count == 3)
    let later = #"{"key":"later","valueBytes":2,"expires":"2100-01-01T00:00:00.000Z"}"#
    #expect(list[1...] == [later, #"{"key":"never","valueBytes":3,"expires":null}"#])
    let values = try scratch.run("list", scratch.store, "--json", "--values", "--match", "never").text
    #expect(values == #"{"key":"never","value":"333","valueBytes":3,"expires":null}"# + "\n")
    #expect(try scratch.run("get", scratch.store, "never", "--json").text == values)
    let some = try scratch.run("get", scratch.store, "never", "none", "later", "--json")
    #expect(some.status == 1 && some.lines.count == 2)
    let none = try scratch.run("get", scratch.store, "none", "--json")
    #expect(none.status == 1 && none.lines.count == 1)
    #expect(try object(none.text)["exitCode"] as? Int == 1)
    #expect(try scratch.run("get", scratch.store, "never", "--json", "--key-encoding", "hex").status == 64)
    #expect(try scratch.run("list", scratch.store, "--json", "--null").status == 64)
  }

  @Test func changesSinceATimeBeginWithThePartThatWasBeingWritten() throws {
    let scratch = try Scratch()
    var options = Options()
    options.segmentSize = 64 << 10
    options.merge.isAutomatic = false
    let store = try LogStore(at: scratch.store, options: options)
    for number in 0..<100 { try store.put([UInt8](repeating: 1, count: 4000), forKey: "\(number)") }
    let parts = store.statistics.segments.compactMap { part in part.sequences.map { ($0.lowerBound, part.path) } }
      .sorted { $0.0 < $1.0 }
    try store.close()
    try #require(parts.count > 4)
    // Each was full a day after the one before it, the last one now.
    for (index, part) in parts.enumerated() {
      let time = Date(timeIntervalSinceNow: Double(index - parts.count + 1) * 86_400)
      try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: part.1)
    }
    func first(_ since: String, _ options: String...) throws -> UInt64 {
      let result = try scratch.run(["follow", scratch.store, "--since", since, "--count", "1", "--json"] + options)
      #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
      return try #require(object(result.text)["sequence"] as? UInt64)
    }
    #expect(try first("100d") == 1)
    #expect(try first("36h") == parts[parts.count - 2].0)
    #expect(try first("1m") == parts[parts.count - 1].0)
    #expect(try scratch.run("follow", scratch.store, "--since", "1h", "--from", "now").status == 64)
    let all = try scratch.run("follow", scratch.store, "--from", "start", "--no-wait", "--json")
    #expect(all.status == 0 && all.lines.count == 100, "\(all.errors)")
    let none = try scratch.run("follow", scratch.store, "--no-wait", "--json")
    #expect(none.status == 0 && none.lines.isEmpty)
    // A position that was kept is where it goes on.
    let file = scratch.path("position")
    #expect(try first("100d", "--resume", file) == 1)
    #expect(try first("1m", "--resume", file) == 2)
  }

  @Test func whatWasMergedAwayIsSaidToBeMissing() throws {
    let scratch = try Scratch()
    var options = Options()
    options.segmentSize = 64 << 10
    options.merge.isAutomatic = false
    let store = try LogStore(at: scratch.store, options: options)
    for number in 0..<100 { try store.put([UInt8](repeating: 1, count: 4000), forKey: "\(number % 7)") }
    try store.merge()
    try store.put("last", forKey: "last")
    try store.close()
    let result = try scratch.run("follow", scratch.store, "--since", "1h", "--count", "1", "--json")
    #expect(result.status == 0 && result.lines.count == 1)
    #expect(result.errors.contains("note: merges have reclaimed some writes up to #"))
  }
}
