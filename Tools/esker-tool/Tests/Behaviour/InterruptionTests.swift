import EskerTestSupport
import Foundation
import Testing

@Suite struct InterruptionTests {
  @Test(arguments: [(SIGINT, 130 as Int32, "interrupted"), (SIGTERM, 143, "ended by signal 15")])
  func aLoadStopsBetweenTwoRecordsAndKeepsWhatItHas(signal: Int32, status: Int32, message: String) throws {
    let scratch = try Scratch()
    let tool = try RunningTool(["load", scratch.store, "-", "--key-field", "id", "--acknowledge", "1"])
    try tool.write("{\"id\":1}\n{\"id\":2}\n{\"id\":")
    // Two acknowledgements: it now waits for the rest of the third line.
    var acknowledged = ""
    while acknowledged != "1\n2\n", tool.process.isRunning {
      acknowledged += String(decoding: tool.output.fileHandleForReading.availableData, as: UTF8.self)
    }
    #expect(tool.end(with: signal) == status)
    let messages = tool.messages
    #expect(messages.hasPrefix("loaded 2 records"))
    #expect(messages.hasSuffix("esker: \(message)\n"))
    #expect(try scratch.run("list", scratch.store).lines.sorted() == ["1", "2"])
    // It was closed, not dropped: nothing was replayed, and nothing is locked.
    #expect(try scratch.run("verify", scratch.store).status == 0)
    #expect(try scratch.run("put", scratch.store, "k", "v").status == 0)
  }

  @Test func aDumpEndsWithAWholeLine() throws {
    let scratch = try Scratch()
    let lines = (0..<20_000).map { "{\"id\":\($0),\"text\":\"some text\"}\n" }.joined()
    #expect(try scratch.run("load", scratch.store, "-", "--key-field", "id", input: Data(lines.utf8)).status == 0)
    // The pipe is full after 64 KiB, so the dump is certainly under way.
    let tool = try RunningTool(["dump", scratch.store])
    var text = tool.output.fileHandleForReading.availableData
    kill(tool.process.processIdentifier, SIGINT)
    text += tool.output.fileHandleForReading.readDataToEndOfFile()
    #expect(tool.wait() == 130)
    #expect(tool.messages == "esker: interrupted\n")
    #expect(text.last == 0x0A)
    #expect(text.split(separator: 0x0A).count < 20_000)
  }

  @Test func anInterruptedDumpLeavesNoFile() throws {
    let scratch = try Scratch()
    let value = String(repeating: "v", count: 1000)
    let lines = (0..<60_000).map { "{\"id\":\($0),\"text\":\"\(value)\"}\n" }.joined()
    #expect(try scratch.run("load", scratch.store, "-", "--key-field", "id", input: Data(lines.utf8)).status == 0)
    let file = scratch.path("out")
    try interrupt(["dump", scratch.store, file]) { _ in
      FileManager.default.fileExists(atPath: file)
    } again: {
      try FileManager.default.removeItem(atPath: file)
    }
    #expect(!FileManager.default.fileExists(atPath: file))
  }

  /// Runs a command and interrupts it when it is under way. One that was done before that, as on a machine that is busy, is run
  /// again.
  private func interrupt(
    _ arguments: [String],
    when isUnderWay: (RunningTool) -> Bool,
    again: () throws -> Void = {}
  ) throws {
    let isInterrupted = try eventually {
      let tool = try RunningTool(arguments)
      while tool.process.isRunning, !isUnderWay(tool) { usleep(100) }
      let status = tool.end(with: SIGINT)
      if status == 130 {
        #expect(tool.messages == "esker: interrupted\n")
        return true
      }
      #expect(status == 0)
      try again()
      return false
    }
    #expect(isInterrupted)
  }

  /// Its threads are seen to work before it is interrupted, which only Linux shows.
  @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/task")))
  func aCheckStopsAndSaysSo() throws {
    let scratch = try Scratch()
    let value = String(repeating: "v", count: 1000)
    let lines = (0..<60_000).map { "{\"id\":\($0),\"text\":\"\(value)\"}\n" }.joined()
    #expect(try scratch.run("load", scratch.store, "-", "--key-field", "id", input: Data(lines.utf8)).status == 0)
    try interrupt(["verify", scratch.store]) { tool in
      let tasks = "/proc/\(tool.process.processIdentifier)/task"
      return ((try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []).contains { task in
        (try? String(contentsOfFile: "\(tasks)/\(task)/comm", encoding: .utf8)) == "esker worker\n"
      }
    }
    #expect(try scratch.run("verify", scratch.store).status == 0)
  }

  /// A listing of records, which would otherwise end in the middle of a line.
  @Test func aListingOfRecordsStopsAndSaysSo() throws {
    let scratch = try Scratch()
    let lines = (0..<200_000).map { "{\"id\":\($0)}\n" }.joined()
    #expect(try scratch.run("load", scratch.store, "-", "--key-field", "id", input: Data(lines.utf8)).status == 0)
    let isInterrupted = try eventually {
      let tool = try RunningTool(["inspect", scratch.store, "--segment", "1", "--json"])
      _ = tool.output.fileHandleForReading.availableData
      kill(tool.process.processIdentifier, SIGINT)
      let rest = tool.output.fileHandleForReading.readDataToEndOfFile()
      #expect(rest.last == UInt8(ascii: "\n"))
      return tool.wait() == 130
    }
    #expect(isInterrupted)
  }

  @Test func anIgnoredSignalStaysIgnored() throws {
    let scratch = try Scratch()
    let line = #"""
      trap '' HUP
      mkfifo "$1.fifo"
      "$0" load "$1" - --key-field id --acknowledge 1 < "$1.fifo" > "$1.out" &
      exec 3> "$1.fifo"
      printf '{"id":1}\n' >&3
      until grep -q 1 "$1.out"; do kill -0 $! || exit 9; sleep 0.1; done
      kill -HUP $!
      sleep 0.3
      printf '{"id":2}\n' >&3
      exec 3>&-
      wait $!
      """#
    let result = try scratch.shell(line)
    #expect(result.status == 0)
    #expect(try scratch.run("count", scratch.store).text == "2\n")
  }
}
