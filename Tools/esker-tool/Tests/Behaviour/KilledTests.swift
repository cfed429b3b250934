import Esker
import EskerTestSupport
import Foundation
import Testing

/// What is left when a command is killed half way: the store as it was, and nothing that could be taken for a whole result.
@Suite struct KilledTests {
  private let entries = 40_000

  /// A store of 40 MB, a half of which is dead.
  private func filled() throws -> Scratch {
    let scratch = try Scratch()
    let value = String(repeating: "v", count: 900)
    let store = try LogStore(at: scratch.store)
    for number in 0..<entries * 2 { try store.put(value, forKey: "\(number % entries)") }
    try store.close()
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

  private struct Copy: Sendable {
    var command: String
    var options: [String] = []
    var mark: String { "\(command).unfinished" }
  }

  @Test(arguments: [
    Copy(command: "backup", options: ["--copy"]), Copy(command: "restore", options: ["--copy"]),
    Copy(command: "repair"),
  ])
  private func aKilledCopySaysWhatItIs(copy: Copy) throws {
    let scratch = try filled()
    let new = scratch.path("new")
    let command = [copy.command, scratch.store, new, "-q"] + copy.options
    var cuts = 0
    let areCut = try eventually {
      for round in 0..<5 {
        // Each time a little later: when so many files are there, the mark among them.
        try kill(command) { ((try? FileManager.default.contentsOfDirectory(atPath: new)) ?? []).count > round }
        guard FileManager.default.fileExists(atPath: new + "/" + copy.mark) else {
          // It was killed before the mark was there or after it had gone.
          guard (try? SampleStore.segments(new))?.isEmpty == false else { continue }
          // It is whole. Where none was cut, it is begun anew.
          if cuts == 0 { try FileManager.default.removeItem(atPath: new) }
          break
        }
        cuts += 1
        try expectRefused(new, mark: copy.mark, scratch)
        if copy.command == "backup" {
          let other = try scratch.run("backup", scratch.store, scratch.path("other"), "--since", new)
          #expect(other.status == 66)
          #expect(other.errors.contains(copy.mark))
        }
      }
      return cuts > 0
    }
    #expect(areCut)
    if FileManager.default.fileExists(atPath: new + "/" + copy.mark) {
      // The same command may be given again.
      let again = try scratch.run(command)
      #expect(again.status == 0, "\(again.errors)")
    }
    #expect(try scratch.run("count", new).text == "\(entries)\n")
    #expect(try scratch.run("verify", new).status == 0)
    #expect(try !FileManager.default.contentsOfDirectory(atPath: new).contains(copy.mark))
    try expectWhole(scratch)
  }

  /// Wherever a copy is when it is killed, it is told from a whole one, and the same command makes it one.
  @Test(arguments: ["backup", "restore", "repair"]) func aCopyKilledAtAnyMomentIsNotTakenForAWholeOne(command: String)
    throws
  {
    var generator = SeededGenerator(announcedFor: "KilledTests \(command)")
    let scratch = try filled()
    let new = scratch.path("new")
    let arguments = [command, scratch.store, new, "-q"] + (command == "repair" ? [] : ["--copy"])
    let start = ContinuousClock.now
    #expect(try scratch.run(arguments).status == 0)
    let length = ContinuousClock.now - start
    try FileManager.default.removeItem(atPath: new)
    var (marked, absent, whole) = (0, 0, 0)
    // Until one was killed in its midst, which is seldom more.
    var round = 0
    while round < Rounds.count(8, thorough: 20) || marked == 0 && round < 200 {
      defer { round += 1 }
      let moment = length * Double.random(in: 0..<1, using: &generator)
      let tool = try RunningTool(arguments)
      let end = ContinuousClock.now + moment
      while tool.process.isRunning, ContinuousClock.now < end { usleep(200) }
      _ = tool.end(with: SIGKILL)
      let count = try scratch.run("count", new)
      if count.status == 0 {
        whole += 1
        #expect(count.text == "\(entries)\n", "round \(round), killed after \(moment)")
        #expect(try scratch.run("verify", new).status == 0)
        try FileManager.default.removeItem(atPath: new)
        continue
      }
      #expect(count.status == 66, "round \(round), killed after \(moment): \(count.errors)")
      if count.errors.contains("no store at") { absent += 1 } else { marked += 1 }
      #expect(
        try scratch.run("put", scratch.path("new"), "k", "v").status == (count.errors.contains("no store at") ? 0 : 66)
      )
      if count.errors.contains("no store at") { try? FileManager.default.removeItem(atPath: new) }
      // Every third one is left for the next round to go on with.
      guard round % 3 == 0 else { continue }
      let again = try scratch.run(arguments)
      #expect(again.status == 0, "round \(round): \(again.errors)")
      #expect(try scratch.run("count", new).text == "\(entries)\n")
      #expect(try scratch.run("verify", new).status == 0)
      try FileManager.default.removeItem(atPath: new)
    }
    print("\(command): \(marked) marked, \(absent) not begun, \(whole) whole")
    #expect(marked > 0)
    try expectWhole(scratch)
  }

  /// Every command names the mark, says what to do, and does not advise to repair.
  private func expectRefused(_ new: String, mark: String, _ scratch: Scratch) throws {
    let before = try FileManager.default.contentsOfDirectory(atPath: new).sorted()
    for command in [
      ["count", new], ["list", new], ["stats", new], ["verify", new], ["verify", new, "--json"], ["dump", new],
      ["inspect", new], ["inspect", new, "--key", "1"], ["map", new, scratch.path("map.html")], ["keyspaces", new],
      ["get", new, "1"], ["put", new, "k", "v"], ["delete", new, "1"], ["merge", new],
      ["backup", new, scratch.path("b")],
      ["restore", new, scratch.path("b")], ["repair", new, scratch.path("b")],
    ] {
      let result = try scratch.run(command)
      #expect(result.status == 66, "\(command[0]): \(result.errors)")
      #expect(result.errors.contains(mark), "\(command[0]): \(result.errors)")
      #expect(result.errors.contains("repeat the same command, or remove the directory"), "\(command[0])")
      #expect(!result.errors.contains("salvage") && !result.errors.contains("esker repair"), "\(command[0])")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: new).sorted() == before)
    #expect(!FileManager.default.fileExists(atPath: scratch.path("b")))
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

}
