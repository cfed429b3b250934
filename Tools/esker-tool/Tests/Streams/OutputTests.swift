import Foundation
import Testing

@Suite struct OutputTests {
  @Test func readerThatGoesAwayIsNoError() throws {
    let scratch = try Scratch()
    let value = Data(repeating: 65, count: 1 << 20)
    _ = try scratch.run("put", scratch.store, "big", "-", input: value)
    for command in [#"get "$1" big"#, #"dump "$1""#] {
      // The status of the first part of the pipe is what counts.
      let result = try scratch.shell(#"{ "$0" \#(command); echo $? >&2; } | head -c 10"#)
      #expect(result.output.count == 10)
      #expect(result.errors == "0\n")
    }
  }

  @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
  func fullDiskUnderStandardOutputExitsWith74() throws {
    let scratch = try Scratch()
    _ = try scratch.run("put", scratch.store, "a", "b")
    for command in [#"get "$1" a"#, #"list "$1""#, #"count "$1""#, #"dump "$1""#, #"stats "$1""#, #"verify "$1""#] {
      let result = try scratch.shell(#""$0" \#(command) > /dev/full"#)
      #expect(result.status == 74)
      #expect(result.errors.hasPrefix("esker: cannot write to standard output"))
    }
  }

  @Test func closedDescriptorsDoNotEndUpInTheStore() throws {
    let scratch = try Scratch()
    let line = #"printf '{"id":1}\nbad\n' | "$0" load "$1" - --key-field id --skip-bad --acknowledge 1 >&- 2>&-"#
    #expect(try scratch.shell(line).status == 74)
    #expect(try scratch.run("get", scratch.store, "1").text == #"{"id":1}"#)
    #expect(try scratch.shell(#""$0" put "$1" k v <&- >&- 2>&-"#).status == 0)
    #expect(try scratch.shell(#""$0" get "$1" k >&-"#).status == 74)
    #expect(try scratch.shell(#""$0" put "$1" k - <&-"#).status == 74)
    let verify = try scratch.run("verify", scratch.store)
    #expect(verify.status == 0)
    #expect(verify.text.hasSuffix("no damage\n"))
  }
}
