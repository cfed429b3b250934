import Foundation
import Testing

@Suite struct InspectTests {
  private func object(_ line: some StringProtocol) throws -> [String: Any] {
    let parsed = try JSONSerialization.jsonObject(with: Data(line.utf8))
    return try #require(parsed as? [String: Any])
  }

  @Test func overviewShowsTheManifestAndEverySegment() throws {
    let scratch = try Scratch()
    try SampleStore.make(at: scratch.store)
    let result = try scratch.run("inspect", scratch.store)
    #expect(result.status == 0 && result.errors.isEmpty)
    #expect(result.lines.first == "store           \(scratch.store)")
    #expect(result.lines.contains("state           closed"))
    let table = result.lines.drop { !$0.hasPrefix("ID\t") }
    #expect(table.count == 1 + (try SampleStore.segments(scratch.store).count))
    for row in table.dropFirst() {
      let cells = row.split(separator: "\t", omittingEmptySubsequences: false)
      #expect(cells.count == 14)
      #expect(cells.last == "ok")
      #expect(Int(cells[3]) != nil && Int(cells[4]) != nil && Int(cells[5]) != nil)
    }
  }

  @Test func overviewAsJSONAgreesWithStats() throws {
    let scratch = try Scratch()
    try SampleStore.make(at: scratch.store, isPacked: true)
    let report = try object(scratch.run("inspect", scratch.store, "--json").text)
    #expect(report.keys.sorted() == ["manifest", "manifestCopies", "openError", "path", "segments", "writerProcess"])
    let segments = try #require(report["segments"] as? [[String: Any]])
    #expect(segments.contains { $0["kind"] as? String == "packed" && $0["unpackedBytes"] is Int })
    let stats = try object(scratch.run("stats", scratch.store, "--json").text)
    let figures = try #require(stats["segments"] as? [[String: Any]])
    #expect(segments.count == figures.count)
    for segment in segments {
      let figure = try #require(figures.first { $0["id"] as? Int == segment["id"] as? Int })
      #expect(segment["fileBytes"] as? Int == figure["fileBytes"] as? Int)
      let usage = try #require(segment["usage"] as? [String: Int])
      let live = ["lastingBytes", "expiringBytes", "expiredBytes"].reduce(0) { $0 + (usage[$1] ?? 0) }
      #expect(live == figure["liveBytes"] as? Int)
    }
    let manifest = try #require(report["manifest"] as? [String: Any])
    #expect((manifest["keyspaces"] as? [[String: Any]])?.map { $0["name"] as? String } == ["", "names"])
  }

  @Test func recordsAreALineEachInOrder() throws {
    let scratch = try Scratch()
    _ = try scratch.run("put", scratch.store, "a\tb", "1")
    _ = try scratch.run("put", scratch.store, "b", "2", "--ttl", "1d", "--keyspace", "names")
    _ = try scratch.run("delete", scratch.store, "a\tb")
    let lines = try scratch.run("inspect", scratch.store, "--segment", "1").lines
    #expect(lines.count == 4)
    let rows = lines.map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
    #expect(rows.map { $0[2] } == ["KIND", "put", "put", "tombstone"])
    #expect(rows.map { $0.last ?? "" } == ["KEY", #"a\tb"#, "b", #"a\tb"#])
    #expect(rows[2][8] == "names" && rows[2][6].hasSuffix("Z"))
    let objects = try scratch.run("inspect", scratch.store, "--segment", "1", "--json").lines.map { try object($0) }
    #expect(objects.map { $0["sequence"] as? Int } == [1, 2, 3])
    #expect(objects.map { $0["key"] as? String } == ["a\tb", "b", "a\tb"])
    #expect(objects.allSatisfy { $0["damage"] is NSNull })
  }

  @Test func recordIsShownFieldByField() throws {
    let scratch = try Scratch()
    _ = try scratch.run("put", scratch.store, "at", "Vienna")
    let text = try scratch.run("inspect", scratch.store, "--record", "1:128")
    #expect(text.status == 0)
    #expect(text.lines.contains("160\t61 74\tkey\tat"))
    #expect(text.lines.contains("162\t56 69 65 6e 6e 61\tvalue\tVienna"))
    let json = try object(scratch.run("inspect", scratch.store, "--record", "0x1:0x80", "--json").text)
    let fields = try #require(json["fields"] as? [[String: Any]])
    #expect(fields.reduce(0) { $0 + ($1["length"] as? Int ?? 0) } == json["length"] as? Int)
    #expect(fields.contains { $0["name"] as? String == "value" && $0["hex"] as? String == "5669656e6e61" })
  }

  @Test func longValueIsCutUnlessAllIsAskedFor() throws {
    let scratch = try Scratch()
    _ = try scratch.run("put", scratch.store, "k", "-", input: Data(repeating: 65, count: 10_000))
    #expect(try scratch.run("inspect", scratch.store, "--record", "1:128").text.contains("9,744 more bytes"))
    let all = try scratch.run("inspect", scratch.store, "--record", "1:128", "--all")
    #expect(all.text.split(separator: "AAAAAAAAAAAAAAAA").count == 626)
  }

  @Test func keyIsFoundWithItsOlderVersions() throws {
    let scratch = try Scratch()
    for value in ["one", "two"] { _ = try scratch.run("put", scratch.store, "k", value) }
    let rows = try scratch.run("inspect", scratch.store, "--key", "k").lines.map { $0.split(separator: "\t") }
    #expect(rows.map { $0[0] } == ["STANDING", "current", "superseded"])
    _ = try scratch.run("delete", scratch.store, "k")
    let objects = try scratch.run("inspect", scratch.store, "--key", "6b", "--key-encoding", "hex", "--json").lines
      .map { try object($0) }
    #expect(objects.map { $0["standing"] as? String } == ["deletes", "superseded", "superseded"])
    let missing = try scratch.run("inspect", scratch.store, "--key", "none")
    #expect(missing.status == 1 && missing.output.isEmpty)
    #expect(missing.errors == "esker: no record of key \"none\" is on disk\n")
    #expect(try scratch.run("inspect", scratch.store, "--key", "k", "--keyspace", "none").status == 1)
    #expect(try scratch.run("inspect", scratch.store, "--key", "xx", "--key-encoding", "hex").status == 64)
  }

  @Test func keyOfAnyBytesIsEscaped() throws {
    let scratch = try Scratch()
    try SampleStore.makeBinary(at: scratch.store)
    let lines = try scratch.run("inspect", scratch.store, "--segment", "1").lines
    #expect(lines.last?.hasSuffix(#"\xff\x00\n"#) == true)
    let json = try object(scratch.run("inspect", scratch.store, "--segment", "1", "--json").text)
    #expect(json["key64"] as? String == Data([0xFF, 0, 0x0A]).base64EncodedString())
    let found = try scratch.run("inspect", scratch.store, "--key", "/wAK", "--key-encoding", "base64")
    #expect(found.status == 0)
  }

  @Test(arguments: [20, 80, 200])
  func everythingIsReadableOnATerminalOfAnyWidth(columns: Int) throws {
    let scratch = try Scratch()
    try SampleStore.make(at: scratch.store)
    for arguments in [[], ["--segment", "2"], ["--record", "1:128"], ["--key", "key 7"]] {
      let terminal = try PseudoTerminal(columns: columns)
      let (status, text) = try terminal.run(["inspect", scratch.store] + arguments)
      #expect(status == 0)
      #expect(text.contains("\u{1B}[1m"))
      let plain = try PseudoTerminal(columns: columns).run(
        ["inspect", scratch.store] + arguments,
        environment: ["NO_COLOR": "1"]
      )
      #expect(!plain.text.contains("\u{1B}"))
      // Titles and cells stay within the lines, but for the user's own text and the store's path.
      if arguments.isEmpty {
        let long = plain.text.split(separator: "\n").filter { $0.count > columns && !$0.contains(scratch.store) }
        #expect(long.allSatisfy { columns == 20 && $0.hasPrefix("  ") }, "\(long)")
      }
    }
  }

  @Test func damageIsNamedAndExitsWith1() throws {
    let scratch = try Scratch()
    for key in ["a", "b", "c"] { _ = try scratch.run("put", scratch.store, key, "value \(key)") }
    let name = try #require(try SampleStore.segments(scratch.store).first)
    try SampleStore.flip(scratch.store, name, at: 128 + 40 + 34)
    let body = try scratch.run("inspect", scratch.store, "--segment", "1")
    #expect(body.status == 1)
    #expect(body.lines.map { $0.contains("damaged") } == [false, false, true, false])
    let record = try scratch.run("inspect", scratch.store, "--record", "1:168")
    #expect(record.status == 1 && record.text.contains("does not match"))
    try SampleStore.flip(scratch.store, name, at: 128 + 40 + 9)
    let head = try scratch.run("inspect", scratch.store, "--segment", "1")
    #expect(head.status == 1 && head.text.contains("168\t\tunreadable\t40\tdamaged"))
    #expect(try scratch.run("inspect", scratch.store, "--record", "1:132").status == 1)
  }

  @Test func storeWithoutAManifestIsShownAndExitsWith1() throws {
    let scratch = try Scratch()
    try SampleStore.make(at: scratch.store)
    for name in ["manifest.a", "manifest.b"] { try SampleStore.flip(scratch.store, name, at: 50) }
    let result = try scratch.run("inspect", scratch.store)
    #expect(result.status == 1)
    #expect(result.text.contains("manifest.a") && result.text.contains("checksum"))
    #expect(result.lines.filter { $0.hasSuffix("\tok") }.count == (try SampleStore.segments(scratch.store).count))
    #expect(result.errors.split(separator: "\n").count == 1)
    #expect(result.errors.contains("the store cannot be opened"))
    #expect(try scratch.run("inspect", scratch.store, "--segment", "1").status == 0)
    #expect(try scratch.run("keyspaces", scratch.store).status == 1)
  }

  @Test func wrongPlacesAreOneClearLine() throws {
    let scratch = try Scratch()
    _ = try scratch.run("put", scratch.store, "a", "b")
    let segment = try scratch.run("inspect", scratch.store, "--segment", "99")
    #expect(segment.status == 1 && segment.errors == "esker: no segment 99 in \(scratch.store)\n")
    let record = try scratch.run("inspect", scratch.store, "--record", "1:131")
    #expect(record.status == 1 && record.errors.split(separator: "\n").count == 1)
    for arguments in [["--record", "1"], ["--record", "a:b"], ["--segment", "1", "--key", "a"], ["--all"]] {
      #expect(try scratch.run(["inspect", scratch.store] + arguments).status == 64)
    }
  }

  @Test func newerVersionExitsWith66() throws {
    let scratch = try Scratch()
    _ = try scratch.run("put", scratch.store, "a", "b")
    try SampleStore.makeNewer(scratch.store)
    for command in ["inspect", "keyspaces", "map"] {
      let result = try scratch.run(command, scratch.store)
      #expect(result.status == 66)
      #expect(result.errors.contains("format version 2"))
    }
  }

  @Test func inspectionWorksBesideAWriterAndWhateverItWrites() throws {
    let scratch = try Scratch()
    let load = try OpenLoad(store: scratch.store)
    for number in 0..<50 {
      _ = try load.feed("{\"id\":\"\(number)\"}")
      if number % 10 == 0 {
        #expect(try scratch.run("inspect", scratch.store).text.contains("open for writing in process "))
        #expect(try scratch.run("inspect", scratch.store, "--segment", "1", "--json").lines.count == number + 1)
        #expect(try scratch.run("inspect", scratch.store, "--key", "\(number)").status == 0)
      }
    }
    #expect(try load.finish() == 0)
  }

  /// Unless it is run as the superuser, to whom permissions mean nothing.
  @Test(.enabled(if: geteuid() != 0, "the superuser may read everything"))
  func storeThatMayNotBeReadExitsWith74() throws {
    let scratch = try Scratch()
    _ = try scratch.run("put", scratch.store, "a", "b")
    chmod(scratch.store, 0)
    defer { chmod(scratch.store, 0o755) }
    for command in ["inspect", "keyspaces", "map", "verify"] {
      let result = try scratch.run(command, scratch.store)
      #expect(result.status == 74)
      #expect(result.errors.split(separator: "\n").count == 1)
    }
  }
}
