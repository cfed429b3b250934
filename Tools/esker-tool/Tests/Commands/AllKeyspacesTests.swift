import Esker
import Foundation
import Testing

/// Commands that take one keyspace, given all of them.
@Suite struct AllKeyspacesTests {
  private let scratch: Scratch

  init() throws {
    scratch = try Scratch()
    let store = try LogStore(at: scratch.store)
    try store.put("Vienna", forKey: "at")
    let (names, numbers) = (try store.keyspace("names"), try store.keyspace("numbers"))
    for number in 1...3 { try names.put("name \(number)", forKey: "a\(number)") }
    try numbers.put("7", forKey: "seven")
    try store.close()
  }

  @Test func listNamesTheKeyspaceOfEachKey() throws {
    #expect(
      try scratch.run("list", scratch.store, "--all-keyspaces").lines.sorted()
        == ["\tat", "names\ta1", "names\ta2", "names\ta3", "numbers\tseven"]
    )
    #expect(
      try scratch.run("list", scratch.store, "--all-keyspaces", "--prefix", "a", "--sort", "key", "--values", "-n", "2")
        .lines == ["\tat\tVienna", "names\ta1\tname 1"]
    )
    let json = try scratch.run("list", scratch.store, "--all-keyspaces", "--json", "--prefix", "s")
    #expect(json.text == "{\"keyspace\":\"numbers\",\"key\":\"seven\",\"valueBytes\":1,\"expires\":null}\n")
    #expect(try scratch.run("list", scratch.store, "--all-keyspaces", "--keyspace", "names").status == 64)
    #expect(try scratch.run("list", scratch.store, "--all-keyspaces", "--null").status == 64)
  }

  @Test func countCountsEachAndAll() throws {
    #expect(
      try scratch.run("count", scratch.store, "--all-keyspaces").text == "1\t\n3\tnames\n1\tnumbers\n5\n"
    )
    #expect(
      try scratch.run("count", scratch.store, "--all-keyspaces", "--prefix", "a").text == "1\t\n3\tnames\n4\n"
    )
    #expect(
      try scratch.run("count", scratch.store, "--all-keyspaces", "--json").text
        == "{\"keys\":5,\"keyspaces\":{\"\":1,\"names\":3,\"numbers\":1}}\n"
    )
    #expect(try scratch.run("count", scratch.store, "--all-keyspaces", "-k", "names").status == 64)
  }

  @Test func deleteRemovesFromAllAndAsksBefore() throws {
    let line = ["delete", scratch.store, "--all-keyspaces", "--prefix", "a"]
    let plan = try scratch.run(line + ["--dry-run"])
    #expect(plan.errors == "would remove 4 entries: 1 of (default), 3 of names\n", "\(plan.errors)")
    let asked = try PseudoTerminal(columns: 80).run(line, typing: "n\n")
    #expect(asked.status == 1 && asked.text.contains("remove 4 entries of all keyspaces? [y/N] "), "\(asked.text)")
    #expect(try scratch.run("count", scratch.store, "--all-keyspaces").lines.last == "5")
    let done = try scratch.run(line)
    #expect(done.status == 0 && done.errors == "removed 4 entries: 1 of (default), 3 of names\n", "\(done.errors)")
    #expect(try scratch.run("list", scratch.store, "--all-keyspaces").text == "numbers\tseven\n")
    #expect(try scratch.run("delete", scratch.store, "--all-keyspaces", "seven").status == 64)
    #expect(try scratch.run("delete", scratch.store, "--all-keyspaces").status == 64)
    let told = try PseudoTerminal(columns: 80).run(
      ["delete", scratch.store, "--all-keyspaces", "--prefix", "s", "--yes"],
      typing: ""
    )
    #expect(told.status == 0 && !told.text.contains("[y/N]"))
    // Of one keyspace, nobody is asked.
    let one = try PseudoTerminal(columns: 80).run(["delete", scratch.store, "--prefix", "z"], typing: "")
    #expect(!one.text.contains("[y/N]"))
  }

  @Test func keyspacesAndLimitsHaveAShortOption() throws {
    #expect(try scratch.run("count", scratch.store, "-k", "names").text == "3\n")
    #expect(try scratch.run("list", scratch.store, "-k", "names", "-n", "2").lines.count == 2)
    #expect(try scratch.run("inspect", scratch.store, "-k", "names", "--key", "a1").status == 0)
    let shell = try scratch.run(
      ["shell", scratch.store],
      input: Data("use names\ncount\ncount -k numbers\ncount --all-keyspaces\n".utf8)
    )
    #expect(shell.text == "3\n1\n1\t\n3\tnames\n1\tnumbers\n5\n", "\(shell.text) \(shell.errors)")
  }
}
