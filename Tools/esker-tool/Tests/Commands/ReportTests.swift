import Foundation
import Testing

@Suite struct ReportTests {
  @Test func statsFieldsKeepTheirNames() throws {
    let scratch = try Scratch()
    for key in ["a", "b", "c"] { _ = try scratch.run("put", scratch.store, key, "value") }
    _ = try scratch.run("put", scratch.store, "a", "value", "--keyspace", "names")
    let result = try scratch.run("stats", scratch.store, "--json")
    #expect(result.status == 0)
    let parsed = try JSONSerialization.jsonObject(with: result.output)
    let report = try #require(parsed as? [String: Any])
    #expect(
      report.keys.sorted() == [
        "aheadBytes", "bytesOnDisk", "checkpointBytes", "deadBytes", "durableSequence", "history", "historyDamaged",
        "indexBytes", "indexLoad", "keys", "keyspaceBytes", "keyspaces", "lastSequence", "liveBytes", "orderBytes",
        "otherBytes", "path", "reserveBytes", "segments",
        "settings",
        "spaceAmplification", "writerProcess",
      ]
    )
    #expect(report["path"] as? String == scratch.store)
    #expect(report["keys"] as? Int == 4)
    #expect(report["keyspaces"] as? [String: Int] == ["": 3, "names": 1])
    let settings = try #require(report["settings"] as? [String: Any])
    #expect(settings["durability"] as? String == "buffered")
    #expect(settings["capacity"] is NSNull)
    let segments = try #require(report["segments"] as? [[String: Any]])
    for segment in segments {
      #expect(
        segment.keys.sorted() == [
          "fileBytes", "firstSequence", "id", "lastSequence", "liveBytes", "merged", "path", "recordBytes", "sealed",
        ]
      )
    }
  }

  @Test func statsForPeopleAreAligned() throws {
    let scratch = try Scratch()
    _ = try scratch.run("put", scratch.store, "a", "value")
    let lines = try scratch.run("stats", scratch.store).lines
    #expect(lines.first == "store                \(scratch.store)")
    #expect(lines.contains("keys, with expired   1"))
  }

  @Test func statsSayWhatOpeningsHaveFound() throws {
    let scratch = try Scratch()
    let marker = String(repeating: "findme", count: 20)
    for (key, value) in [("a", "alpha"), ("b", marker), ("c", "gamma")] {
      _ = try scratch.run("put", scratch.store, key, value)
    }
    let lines = try scratch.run("stats", scratch.store).lines
    let opened = lines.filter { $0.hasPrefix("opened ") }
    // Those before it found nothing to tell of.
    #expect(opened.count == 1, "\(lines)")
    #expect(opened.first?.hasSuffix(", was closed; through write #2") == true, "\(opened)")
    #expect(lines.contains { $0.hasPrefix("created ") })
    _ = try flip(marker, in: scratch.store)
    _ = try scratch.run("repair", scratch.store, scratch.path("new"))
    let told = try scratch.run("stats", scratch.path("new")).lines.filter { $0.hasPrefix("repaired ") }
    #expect(told.count == 1 && told.first?.contains("through write #2; damage in 0000000000000001.segment") == true)
    let json = try scratch.run("stats", scratch.path("new"), "--json")
    let report = try #require(JSONSerialization.jsonObject(with: json.output) as? [String: Any])
    #expect(report["historyDamaged"] as? Bool == false)
    let rows = try #require(report["history"] as? [[String: Any]])
    #expect(rows.map { $0["kind"] as? String } == ["repaired"])
    #expect(
      rows[0].keys.sorted() == [
        "complete", "cut", "damage", "damageCount", "indexSource", "keys", "kind", "lastSequence", "lastSync",
        "replayedRecords", "rewrittenRecords", "seconds", "time",
      ]
    )
    let damage = try #require(rows[0]["damage"] as? [[String: Any]])
    #expect(damage.count == 1)
    #expect(damage[0]["segment"] as? Int == 1 && damage[0]["records"] as? Int == 1)
  }

  @Test func verifyOfAHealthyStoreExitsWith0() throws {
    let scratch = try Scratch()
    _ = try scratch.run("put", scratch.store, "a", "value")
    let result = try scratch.run("verify", scratch.store)
    #expect(result.status == 0)
    #expect(result.text.hasPrefix("checked "))
    #expect(result.text.hasSuffix("no damage\n"))
  }

  @Test func verifyReportsInJSON() throws {
    let scratch = try Scratch()
    let marker = String(repeating: "findme", count: 20)
    for (key, value) in [("a", "alpha"), ("b", marker)] { _ = try scratch.run("put", scratch.store, key, value) }
    func report(_ result: ToolResult) throws -> [String: Any] {
      try #require(JSONSerialization.jsonObject(with: result.output) as? [String: Any])
    }
    let healthy = try scratch.run("verify", scratch.store, "--json")
    #expect(healthy.status == 0)
    #expect(try report(healthy).keys.sorted() == ["bytes", "damage", "files", "records"])
    #expect(try report(healthy)["records"] as? Int == 2)
    #expect(try (report(healthy)["damage"] as? [Any])?.isEmpty == true)
    let name = try flip(marker, in: scratch.store)
    let damaged = try scratch.run("verify", scratch.store, "--json")
    #expect(damaged.status == 1 && damaged.errors.isEmpty)
    let damage = try #require(report(damaged)["damage"] as? [[String: Any]])
    #expect(damage.count == 1)
    #expect(
      damage[0].keys.sorted() == [
        "current", "key", "length", "offset", "path", "reason", "records", "segment", "unknown",
      ]
    )
    #expect(damage[0]["path"] as? String == "\(scratch.store)/\(name)")
    #expect(damage[0]["segment"] as? Int == 1)
  }

  @Test func countReportsInJSON() throws {
    let scratch = try Scratch()
    for key in ["a", "b"] { _ = try scratch.run("put", scratch.store, key, "value") }
    #expect(try scratch.run("count", scratch.store, "--json").text == "{\"keys\":2}\n")
  }

  @Test func oneKeyOfAKeyspaceIsNotSeveral() throws {
    let scratch = try Scratch()
    _ = try scratch.run("put", scratch.store, "a", "value", "--keyspace", "names")
    #expect(try scratch.run("stats", scratch.store).lines.contains("keyspace names       1 key of 48 B"))
  }

  @Test func flippedByteIsNamedByVerifyAndPassedOverByDump() throws {
    let scratch = try Scratch()
    let marker = String(repeating: "findme", count: 20)
    for (key, value) in [("a", "alpha"), ("b", marker), ("c", "gamma")] {
      _ = try scratch.run("put", scratch.store, key, value)
    }
    let damaged = try flip(marker, in: scratch.store)
    let verify = try scratch.run("verify", scratch.store)
    #expect(verify.status == 1)
    let range = try #require(verify.lines.first)
    #expect(range.contains(damaged))
    #expect(range.contains("at offset "))
    #expect(range.contains("bytes: "))

    let get = try scratch.run("get", scratch.store, "b")
    #expect(get.status == 1 && get.output.isEmpty && get.errors.hasPrefix("esker: damage in "))
    #expect(try scratch.run("get", scratch.store, "a").text == "alpha")
    #expect(try scratch.run("get", scratch.store, "c").text == "gamma")

    let dump = try scratch.run("dump", scratch.store)
    #expect(dump.status == 1)
    #expect(dump.lines.count == 2)
    #expect(dump.errors.contains("damage in "))
  }

  /// Changes a byte in the middle of `text`, wherever in the store it lies, and returns the file's name.
  private func flip(_ text: String, in store: String) throws -> String {
    for name in try FileManager.default.subpathsOfDirectory(atPath: store) {
      let url = URL(fileURLWithPath: store).appendingPathComponent(name)
      guard var bytes = try? Data(contentsOf: url), let range = bytes.range(of: Data(text.utf8)) else { continue }
      bytes[range.lowerBound + 50] ^= 1
      try bytes.write(to: url)
      return name
    }
    throw CocoaError(.fileReadUnknown)
  }
}
