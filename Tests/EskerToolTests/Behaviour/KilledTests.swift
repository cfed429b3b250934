import Foundation
import Testing

/// What is left when a command is killed half way: the store as it was, and nothing that could be taken for a whole result.
@Suite struct KilledTests {
  private let entries = 40_000

  /// A store of 40 MB, a half of which is dead.
  private func filled() throws -> Scratch {
    let scratch = try Scratch()
    let value = String(repeating: "v", count: 900)
    let lines = (0..<entries * 2).map { "{\"id\":\($0 % entries),\"text\":\"\(value)\"}\n" }.joined()
    let load = try scratch.run("load", scratch.store, "-", "--key-field", "id", "-q", input: Data(lines.utf8))
    #expect(load.status == 0)
    return scratch
  }

  /// Starts a command and kills it when `isUnderWay`; false when it was done before that, as on a machine that is busy.
  @discardableResult
  private func kill(_ arguments: [String], when isUnderWay: () -> Bool) throws -> Bool {
    let tool = try RunningTool(arguments)
    while tool.process.isRunning, !isUnderWay() { usleep(200) }
    return tool.end(with: SIGKILL) == -SIGKILL
  }

  private func expectWhole(_ scratch: Scratch) throws {
    #expect(try scratch.run("count", scratch.store).text == "\(entries)\n")
    let verify = try scratch.run("verify", scratch.store)
    #expect(verify.status == 0, "\(verify.text)")
  }

  @Test func aKilledMergeLosesNothingAndIsDoneByTheNext() throws {
    let scratch = try filled()
    let before = Set(try SampleStore.segments(scratch.store))
    try kill(["merge", scratch.store]) {
      ((try? SampleStore.segments(scratch.store)) ?? []).contains { !before.contains($0) }
    }
    try expectWhole(scratch)
    #expect(try scratch.run("merge", scratch.store).status == 0)
    #expect(try scratch.run("merge", scratch.store, "--dry-run").text == "nothing to merge\n")
    try expectWhole(scratch)
  }

  @Test(arguments: ["backup", "restore"])
  func aKilledCopyIsNoStore(command: String) throws {
    let scratch = try filled()
    let new = scratch.path("new")
    let isCut = try kill([command, scratch.store, new, "--copy"]) { FileManager.default.fileExists(atPath: new) }
    let result = try scratch.run("count", new)
    #expect(result.status == (isCut ? 66 : 0))
    #expect(result.errors.split(separator: "\n").count == (isCut ? 1 : 0))
    try expectWhole(scratch)
    #expect(try scratch.run(command, scratch.store, scratch.path("second"), "--copy").status == 0)
  }

  @Test func aKilledBinaryDumpIsNotLoaded() throws {
    let scratch = try filled()
    let file = scratch.path("out")
    let isCut = try kill(["dump", scratch.store, file, "--format", "binary"]) {
      let attributes = try? FileManager.default.attributesOfItem(atPath: file)
      return (attributes?[.size] as? Int ?? 0) > 0
    }
    let result = try scratch.run("load", scratch.path("copy"), file, "--format", "binary", "-q")
    #expect(result.status == (isCut ? 1 : 0))
    #expect(result.errors.split(separator: "\n").count == (isCut ? 1 : 0), "\(result.errors)")
    try expectWhole(scratch)
  }

  @Test func aKilledRepairLeavesTheSourceAsItWas() throws {
    let scratch = try filled()
    let new = scratch.path("new")
    try kill(["repair", scratch.store, new]) { FileManager.default.fileExists(atPath: new) }
    try expectWhole(scratch)
    let again = try scratch.run("repair", scratch.store, scratch.path("second"))
    #expect(again.status == 0)
    #expect(try scratch.run("count", scratch.path("second")).text == "\(entries)\n")
  }
}
