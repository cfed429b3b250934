import Foundation
import Testing

/// How many files the tool may have open.
@Suite struct FileLimitTests {
  @Test func theToolTakesAllTheFilesItMayHave() throws {
    let scratch = try Scratch()
    #expect(try scratch.run("put", scratch.store, "key", "value").status == 0)
    let raised = try scratch.shell(#"ulimit -S -n 6 && "$0" put "$1" key new"#)
    #expect(raised.status == 0, "\(raised.errors)")
    #expect(try scratch.run("get", scratch.store, "key").lines == ["new"])
  }

  @Test func whereThatIsNotEnoughItSaysWhatToDo() throws {
    let scratch = try Scratch()
    #expect(try scratch.run("put", scratch.store, "key", "value").status == 0)
    let refused = try scratch.shell(#"ulimit -n 6 && "$0" put "$1" key new"#)
    #expect(refused.status == 74)
    #expect(refused.errors.contains("ulimit -n"), "\(refused.errors)")
    #expect(refused.errors.contains(scratch.store), "\(refused.errors)")
    #expect(refused.errors.split(separator: "\n").count == 1, "\(refused.errors)")
  }
}
