import EskerTestSupport
import Foundation
import Testing

@Suite struct ResumeTests {
  /// Documents whose keys come again, so that loading one twice, or not at all, shows.
  private func documents(_ count: Int) -> Data {
    let padding = String(repeating: "x", count: 60)
    return Data((0..<count).map { "{\"id\":\($0),\"text\":\"\(padding)\($0)\"}\n" }.joined().utf8)
  }

  private func load(_ scratch: Scratch, _ file: String, _ options: String...) throws -> ToolResult {
    try scratch.run(["load", scratch.store, file, "--key-field", "id", "--resume", "--json"] + options)
  }

  private func counts(_ result: ToolResult) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: result.output) as? [String: Any])
  }

  @Test func aLoadThatIsKilledAgainAndAgainStoresEachRecordOnce() throws {
    let scratch = try Scratch()
    let total = 300_000
    let file = try scratch.file("in", documents(total))
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix(state: seed)
    var last = 0
    var kills = 0
    for _ in 0..<6 {
      if kills == 0 {
        let isKilled = try eventually {
          let tool = try startLoad(scratch, file)
          // As soon as there is something. A load that is done before is begun anew.
          while tool.process.isRunning, !FileManager.default.fileExists(atPath: scratch.store) { usleep(100) }
          if tool.end(with: SIGKILL) == -SIGKILL { return true }
          try FileManager.default.removeItem(atPath: scratch.store)
          return false
        }
        #expect(isKilled)
      } else {
        let tool = try startLoad(scratch, file)
        tool.read(untilAcknowledged: last + Int.random(in: 1...30_000, using: &random))
        usleep(UInt32.random(in: 0..<5_000, using: &random))
        // One that was done before it could be killed has nothing left to go on with.
        guard tool.end(with: SIGKILL) == -SIGKILL else { break }
      }
      kills += 1
      let dump = try scratch.run("dump", scratch.store, "--keyspace", "esker.load")
      guard let position = try position(in: dump) else { continue }
      // What is said to be stored is stored, and nothing else.
      #expect(try scratch.run("count", scratch.store).text == "\(position)\n", "seed \(seed)")
      #expect(position >= last, "seed \(seed)")
      last = position
    }
    #expect(kills > 0)
    let result = try load(scratch, file)
    #expect(result.status == 0)
    let counts = try counts(result)
    if kills == 6 {
      #expect(counts["earlier"] as? Int == last, "seed \(seed)")
      #expect(counts["records"] as? Int == total - last, "seed \(seed)")
      #expect(counts["replaced"] as? Int == 0, "seed \(seed)")
    }
    #expect(try scratch.run("count", scratch.store).text == "\(total)\n", "seed \(seed)")
    #expect(try scratch.run("verify", scratch.store).status == 0)
    #expect(try scratch.run("count", scratch.store, "--keyspace", "esker.load").text == "0\n")
  }

  /// A load that says after every thousand records how many are stored.
  private func startLoad(_ scratch: Scratch, _ file: String) throws -> RunningTool {
    try RunningTool(["load", scratch.store, file, "--key-field", "id", "--resume", "--acknowledge", "1000"])
  }

  private func position(in dump: ToolResult) throws -> Int? {
    guard dump.status == 0, let line = dump.lines.first else { return nil }
    let entry = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    let value = try #require(entry["value"] as? String)
    let position = try #require(try JSONSerialization.jsonObject(with: Data(value.utf8)) as? [String: Int])
    return position["records"]
  }

  @Test func aLoadGoesOnBehindABadLineThatWasMended() throws {
    let scratch = try Scratch()
    let good = "{\"id\":1}\n{\"id\":2}\n"
    let file = try scratch.file("in", Data((good + "bad\n{\"id\":3}\n").utf8))
    let first = try load(scratch, file)
    #expect(first.status == 1)
    #expect(first.errors == "esker: line 3: not a JSON object\n")
    #expect(try load(scratch, file).errors == "esker: line 3: not a JSON object\n")
    _ = try scratch.file("in", Data((good + "{\"id\":\"mended\"}\n{\"id\":3}\n").utf8))
    let second = try load(scratch, file)
    #expect(second.status == 0)
    #expect(try counts(second)["earlier"] as? Int == 2)
    #expect(try counts(second)["records"] as? Int == 2)
    #expect(try scratch.run("list", scratch.store).lines.sorted() == ["1", "2", "3", "mended"])
  }

  @Test func aPipeIsReadUpToWhereTheLoadStopped() throws {
    let scratch = try Scratch()
    let bad = documents(500) + Data("bad\n".utf8)
    let line = #"cat "$1.in" | "$0" load "$1" - --key-field id --resume --quiet"#
    _ = try scratch.file("store.in", bad)
    #expect(try scratch.shell(line).status == 1)
    _ = try scratch.file("store.in", documents(700))
    let result = try scratch.shell(line + " --json")
    #expect(result.status == 0)
    #expect(try counts(result)["earlier"] as? Int == 500)
    #expect(try scratch.run("count", scratch.store).text == "700\n")
  }

  @Test func anotherInputIsNotTakenForTheRestOfTheFirst() throws {
    let scratch = try Scratch()
    let file = try scratch.file("in", Data("{\"id\":1}\n{\"id\":2}\nbad\n".utf8))
    #expect(try load(scratch, file).status == 1)
    // The same file read in another way is another input, too.
    let other = try scratch.run("load", scratch.store, file, "--key-field", "name", "--resume", "-q")
    #expect(other.status == 1)
    for text in ["{\"id\":1}\n{\"id\":9}\n{\"id\":3}\n", "{\"id\":1}\n", ""] {
      _ = try scratch.file("in", Data(text.utf8))
      let result = try load(scratch, file)
      #expect(result.status == 1)
      #expect(result.errors.hasPrefix("esker: \(file) is not what was being loaded"))
    }
    #expect(try scratch.run("count", scratch.store).text == "2\n")
    _ = try scratch.file("in", Data("{\"id\":7}\n".utf8))
    #expect(try scratch.run("load", scratch.store, file, "--key-field", "id").status == 0)
    #expect(try load(scratch, file).status == 0)
  }

  @Test func rowsOfCommaSeparatedValuesAreResumedToo() throws {
    let scratch = try Scratch()
    let head = "id,text\n1,\"two\nlines\"\n2,b\n"
    let file = try scratch.file("in", Data((head + "3\n").utf8))
    let arguments = ["load", scratch.store, file, "--format", "csv", "--key-field", "id", "--resume", "--json"]
    #expect(try scratch.run(arguments).errors == "esker: line 5: 1 field under a header of 2\n")
    _ = try scratch.file("in", Data((head + "3,c\n").utf8))
    let result = try scratch.run(arguments)
    #expect(try counts(result)["earlier"] as? Int == 2)
    #expect(try scratch.run("get", scratch.store, "3").text == #"{"id":"3","text":"c"}"#)
  }
}
