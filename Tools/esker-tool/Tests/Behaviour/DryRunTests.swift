import Foundation
import Testing

@Suite struct DryRunTests {
  private func report(_ result: ToolResult) throws -> [String: Int] {
    let parsed = try #require(try JSONSerialization.jsonObject(with: result.output) as? [String: Any])
    return parsed.compactMapValues { $0 as? Int }
  }

  @Test func aMergeSaysWhatItWouldGiveUpAndDoesNot() throws {
    let scratch = try Scratch()
    let value = String(repeating: "v", count: 20_000)
    for _ in 0..<10 { _ = try scratch.run("put", scratch.store, "a", value) }
    let plan = try scratch.run("merge", scratch.store, "--dry-run", "--json")
    #expect(plan.status == 0)
    let planned = try report(plan)
    #expect(planned.keys.sorted() == ["bytesFreed", "bytesRead", "bytesWritten", "segments"])
    #expect((planned["bytesFreed"] ?? 0) >= 9 * 20_000)
    #expect(try scratch.run("merge", scratch.store, "--dry-run").text.hasPrefix("would merge 1 segment: copy 20."))
    let done = try report(scratch.run("merge", scratch.store, "--json"))
    #expect(done["bytesFreed"] == planned["bytesFreed"])
    #expect(done["bytesWritten"] == planned["bytesWritten"])
    #expect(try scratch.run("merge", scratch.store, "--dry-run").text == "nothing to merge\n")
    #expect(try scratch.run("merge", scratch.store, "--quiet").text.isEmpty)
  }

  @Test func aDryRunOfAMergeWorksBesideAWriter() throws {
    let scratch = try Scratch()
    let load = try OpenLoad(store: scratch.store)
    #expect(try load.feed(#"{"id":"a"}"#) == "1\n")
    #expect(try load.feed(#"{"id":"a"}"#) == "2\n")
    #expect(try scratch.run("merge", scratch.store, "--dry-run").text.hasPrefix("would merge 1 segment"))
    #expect(try load.finish() == 0)
  }

  @Test func aBackupSaysWhatItWouldCopyAndWritesNothing() throws {
    let scratch = try Scratch()
    _ = try scratch.run("put", scratch.store, "a", String(repeating: "v", count: 5000))
    let target = scratch.path("backup")
    for command in ["backup", "restore"] {
      let plan = try scratch.run(command, scratch.store, target, "--dry-run", "--json")
      #expect(plan.status == 0)
      #expect(!FileManager.default.fileExists(atPath: target))
      let done = try scratch.run(command, scratch.store, target, "--json")
      #expect(try report(plan) == report(done))
      #expect(try report(done)["segments"] == 1)
      let again = try scratch.run(command, scratch.store, target, "--dry-run")
      #expect(again.status == 74)
      try FileManager.default.removeItem(atPath: target)
    }
    #expect(try scratch.run("backup", scratch.store, target, "--dry-run").text.hasSuffix("to copy\n"))
    #expect(try scratch.run("backup", scratch.store, target, "--quiet").text.isEmpty)
  }
}
