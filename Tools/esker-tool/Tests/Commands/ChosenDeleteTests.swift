import Esker
import Foundation
import Testing

/// Removing entries by what they are, and finding where they are.
@Suite struct ChosenDeleteTests {
  private func filled() throws -> Scratch {
    let scratch = try Scratch()
    let store = try LogStore(at: scratch.store)
    let people = try store.keyspace("people")
    for number in 0..<30 {
      try people.put("{\"age\":\(number)}", forKey: number < 10 ? "a:\(number)" : "b:\(number)")
    }
    try store.close()
    return scratch
  }

  @Test func entriesAreRemovedByPrefixAndCondition() throws {
    let scratch = try filled()
    let people = ["--keyspace", "people"]
    let dry = try scratch.run(["delete", scratch.store, "--prefix", "a:", "--dry-run"] + people)
    #expect(dry.status == 0 && dry.errors == "would remove 10 entries\n")
    #expect(try scratch.run(["count", scratch.store] + people).text == "30\n")
    #expect(try scratch.run(["delete", scratch.store, "--prefix", "a:"] + people).errors == "removed 10 entries\n")
    let json = try scratch.run(["delete", scratch.store, "--where", "age >= 25", "--json"] + people)
    #expect(json.status == 0 && json.text == "{\"removed\":5}\n")
    let some = try scratch.run(["delete", scratch.store, "--match", "b:1?", "--limit", "3"] + people)
    #expect(some.errors == "removed 3 entries\n")
    #expect(try scratch.run(["count", scratch.store] + people).text == "12\n")
    #expect(try scratch.run(["delete", scratch.store, "--prefix", "none"] + people).errors == "removed 0 entries\n")
  }

  @Test(arguments: [[], ["k", "--prefix", "a"], ["--limit", "3"], ["--dry-run"], ["k", "--dry-run"]])
  func whatSaysNothingOrTwoThingsIsRefused(_ arguments: [String]) throws {
    let scratch = try filled()
    #expect(try scratch.run(["delete", scratch.store] + arguments).status == 64)
  }

  @Test func anEmptyDefaultKeyspaceNamesTheOthers() throws {
    let scratch = try filled()
    for arguments in [["count"], ["list"], ["get", "k"]] {
      let command = [arguments[0], scratch.store] + arguments.dropFirst()
      let result = try scratch.run(command)
      #expect(result.errors.contains("the default keyspace is empty, others have 30 keys"), "\(arguments)")
      #expect(result.errors.contains("people"))
      #expect(try !scratch.run(command + ["-q"]).errors.contains("default"))
      #expect(try !scratch.run(command + ["--keyspace", "people"]).errors.contains("default"))
    }
    #expect(try scratch.run("put", scratch.store, "k", "v").status == 0)
    let count = try scratch.run("count", scratch.store, "--prefix", "x")
    #expect(count.errors.contains("only the default keyspace was searched, others have 30 keys"), "\(count.errors)")
    #expect(try scratch.run("count", scratch.store, "--prefix", "k").errors.isEmpty)
    let delete = try scratch.run("delete", scratch.store, "--prefix", "x")
    #expect(delete.errors.contains("only the default keyspace was searched"), "\(delete.errors)")
    #expect(try !scratch.run("get", scratch.store, "x").errors.contains("default"))
  }
}
