import Esker
import EskerTestSupport
import Foundation
import Synchronization
import Testing

@testable import esker_tool

/// `esker follow` beside a writer.
@Suite struct FollowTests {
  private let scratch: Scratch

  init() throws {
    scratch = try Scratch()
  }

  private func open(merging: Bool = false) throws -> LogStore {
    var options = Options()
    options.segmentSize = 64 << 10
    options.merge.isAutomatic = merging
    return try LogStore(at: scratch.store, options: options)
  }

  /// The lines as far as they have come, once there are so many.
  private func lines(of tool: RunningTool, _ count: Int) -> [String] {
    var text = ""
    while text.utf8.count(where: { $0 == 0x0A }) < count {
      let read = tool.output.fileHandleForReading.availableData
      guard !read.isEmpty else { break }
      text += String(decoding: read, as: UTF8.self)
    }
    return text.split(separator: "\n").map(String.init)
  }

  @Test func whatIsBehindDamageIsShownWithoutWaitingToo() throws {
    let store = try open()
    for number in 0..<10 { try store.put("value \(number)", forKey: "\(number)") }
    let path = try #require(store.statistics.segments.first).path
    try store.close()
    let bytes = try Array(Data(contentsOf: URL(fileURLWithPath: path)))
    let place = try #require(bytes.firstRange(of: Array("value 5".utf8))).lowerBound
    try SampleStore.flip(scratch.store, URL(fileURLWithPath: path).lastPathComponent, at: place)
    let result = try scratch.run("follow", scratch.store, "--from", "start", "--no-wait", "--json")
    #expect(result.status == 1 && result.lines.count == 9, "\(result.text) \(result.errors)")
  }

  @Test func everyKindOfChangeIsALine() throws {
    let store = try open()
    let names = try store.keyspace("names")
    try store.put("1", forKey: "a\tb", expiry: .at(WallTime(millisecondsSince1970: 4_102_444_800_000)))
    try store.write { batch in
      try batch.put("2", forKey: "b")
      try batch.remove("a\tb")
    }
    try names.put([0xFF], forKey: [0xFE])
    try names.removeAll()
    let result = try scratch.run("follow", scratch.store, "--from", "start", "--count", "5")
    #expect(result.status == 0 && result.errors.isEmpty)
    #expect(
      result.lines == [
        "SEQUENCE\tCHANGE\tKEYSPACE\tEXPIRES\tKEY\tVALUE", "1\tput\t\t2100-01-01T00:00:00.000Z\ta\\tb\t1",
        "2\tput\t\t\tb\t2", "3\tdelete\t\t\ta\\tb\t", "4\tput\tnames\t\t\\xfe\t\\xff", "5\tclear\tnames\t\t\t",
      ]
    )
    let json = try scratch.run("follow", scratch.store, "--from", "1", "--count", "5", "--json")
    #expect(
      json.lines == [
        #"{"sequence":1,"change":"put","keyspace":"","key":"a\tb","value":"1","expires":"2100-01-01T00:00:00.000Z"}"#,
        #"{"sequence":2,"change":"put","keyspace":"","key":"b","value":"2","expires":null,"batchContinues":true}"#,
        #"{"sequence":3,"change":"delete","keyspace":"","key":"a\tb"}"#,
        #"{"sequence":4,"change":"put","keyspace":"names","key64":"/g==","value64":"/w==","expires":null}"#,
        #"{"sequence":5,"change":"clear","keyspace":"names"}"#,
      ]
    )
    try store.close()
  }

  @Test func changesComeWhileTheyAreMade() throws {
    let store = try open()
    try store.put("old", forKey: "old")
    let tool = try RunningTool(["follow", scratch.store, "--json"])
    // It begins with what is written from then on: each is written until the first is seen.
    let hasSeen = Mutex(false)
    let writer = Thread {
      var number = 0
      while !hasSeen.withLock({ $0 }), number < 60_000 {
        number += 1
        _ = try? store.put("\(number)", forKey: "key")
        usleep(10_000)
      }
    }
    writer.start()
    let first = lines(of: tool, 1)
    hasSeen.withLock { $0 = true }
    #expect(first.first?.contains(#""change":"put","keyspace":"","key":"key""#) == true)
    #expect(tool.end(with: SIGINT) == 0)
    #expect(tool.messages.isEmpty)
  }

  @Test func keyspacesAndEntriesAreChosen() throws {
    let store = try open()
    let people = try store.storage("people", of: Person.self)
    try people.set(Person(name: "Ann", age: 3), forKey: "a:1")
    try people.set(Person(name: "Bob", age: 30), forKey: "b:1")
    try store.put("x", forKey: "a:2")
    try people.removeValue(forKey: "a:1")
    try store.keyspace("people").removeAll()
    try store.put("end", forKey: "end")
    func run(_ arguments: String...) throws -> [String] {
      let result = try scratch.run(["follow", scratch.store, "--from", "start"] + arguments)
      #expect(result.status == 0, "\(result.errors)")
      return result.lines.dropFirst().map { $0.replacing("\t", with: " ") }
    }
    #expect(try run("--keyspace", "people", "--count", "1") == [#"1 put  a:1 {"name":"Ann","age":3}"#])
    #expect(
      try run("--match", "b:*", "--count", "2") == [#"2 put people  b:1 {"name":"Bob","age":30}"#, "5 clear people   "]
    )
    #expect(try run("--prefix", "a", "--count", "3").map { $0.prefix(8) } == ["1 put pe", "3 put   ", "4 delete"])
    #expect(try run("--where", "age > 10", "--count", "1").map { $0.prefix(5) } == ["2 put"])
    #expect(try run("--keyspace", "people", "--decode", "raw", "--count", "1")[0].contains("\\xa2"))
    #expect(try run("--key-encoding", "hex", "--count", "1")[0].contains("613a31"))
    #expect(try scratch.run("follow", scratch.store, "--keyspace", "none").status == 1)
    try store.close()
  }

  private struct Person: Codable, Sendable { var name: String, age: Int }

  @Test func aPositionSurvivesAKill() throws {
    let store = try open()
    let file = scratch.path("position")
    for number in 1...5000 { try store.put("\(number)", forKey: "key") }
    let first = try RunningTool(["follow", scratch.store, "--from", "start", "--json", "--resume", file])
    var seen = lines(of: first, 5000).compactMap(sequence)
    // The last lines are kept within a tenth of a second; a kill before repeats them.
    #expect(eventually { FileManager.default.fileExists(atPath: file) })
    #expect(first.end(with: SIGKILL) == -SIGKILL)
    for number in 1...10 { try store.put("\(number)", forKey: "key") }
    // Here --from is not asked any more.
    let second = try RunningTool(["follow", scratch.store, "--from", "now", "--json", "--resume", file])
    let more = lines(of: second, 10)
    while let last = more.last.flatMap(sequence), last < 5010, second.process.isRunning { usleep(1000) }
    #expect(second.end(with: SIGINT) == 0)
    seen += more.compactMap(sequence)
    #expect(Set(seen) == Set(1...5010))
    let saved = try String(contentsOfFile: file, encoding: .utf8)
    #expect(saved.contains("5010"))
    let other = scratch.path("other")
    _ = try scratch.run("put", other, "a", "1")
    #expect(try scratch.run("follow", other, "--resume", file).errors.contains("another store"))
    let junk = try scratch.file("junk", "junk".utf8)
    let refused = try scratch.run("follow", scratch.store, "--resume", junk)
    #expect(refused.status == 1 && refused.errors.contains("is not a position"))
    #expect(try String(contentsOfFile: junk, encoding: .utf8) == "junk")
    #expect(
      try scratch.run("follow", scratch.store, "--resume", "/dev/null", "--from", "start", "--count", "1").status != 0
    )
    try store.close()
  }

  private func sequence(_ line: String) -> Int? {
    (try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])?["sequence"] as? Int
  }

  @Test func aMergedHistoryIsSaid() throws {
    let store = try open()
    for number in 0..<3000 { try store.put(String(repeating: "v", count: 100), forKey: "key \(number % 10)") }
    try store.merge()
    try store.put("new", forKey: "new")
    let result = try scratch.run("follow", scratch.store, "--from", "start", "--count", "1")
    #expect(result.status == 1)
    let oldest = try #require(result.errors.firstMatch(of: /--from ([0-9]+)/)?.1)
    #expect(result.errors.hasPrefix("esker: the changes from write 1 on are gone"))
    let after = try scratch.run("follow", scratch.store, "--from", String(oldest), "--count", "1", "--json")
    #expect(after.status == 0 && after.text.hasPrefix("{\"sequence\":\(oldest),"), "\(after.errors)")
    let early = try scratch.run("follow", scratch.store, "--from", "9000000")
    #expect(early.status == 1 && early.errors.contains("there is no write 9000000 yet, the last one is 3001"))
    for argument in ["0", "-1", "x", "99999999999999999999"] {
      #expect(try scratch.run("follow", scratch.store, "--from=\(argument)").status == 64)
    }
    try store.close()
  }

  @Test func aReaderThatHasGoneEndsIt() throws {
    let store = try open()
    try store.put("1", forKey: "a")
    // Nothing is written after the reader has gone.
    let line = "{ \"$0\" follow \"$1\" --from start; echo $? > \"$1.status\"; } | head -n 1"
    let result = try scratch.shell(line)
    #expect(result.text == "SEQUENCE\tCHANGE\tKEYSPACE\tEXPIRES\tKEY\tVALUE\n")
    let status = scratch.store + ".status"
    #expect(eventually { (try? String(contentsOfFile: status, encoding: .utf8)) == "0\n" })
    try store.close()
  }

  @Test func aStoreThatWasReplacedIsNoticed() throws {
    let store = try open()
    try store.put("1", forKey: "a")
    let tool = try RunningTool(["follow", scratch.store, "--from", "start"])
    _ = lines(of: tool, 2)
    try store.close()
    try FileManager.default.removeItem(atPath: scratch.store)
    try open().close()
    #expect(tool.wait() == 66)
    #expect(tool.messages.contains("another store"))
  }
}
