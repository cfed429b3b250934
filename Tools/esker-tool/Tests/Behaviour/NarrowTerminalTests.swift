import Testing

/// Reports on a terminal of 20 columns: a title and its figure stand on a line each where they do not fit side by side.
@Suite struct NarrowTerminalTests {
  @Test(arguments: [
    (["stats"], "keys"), (["keyspaces"], "KEYS"), (["keyspaces", "--sizes"], "EXPIRING"), (["inspect"], "EXPIRING"),
    (["inspect", "--key", "key 7"], "STANDING"),
  ])
  func noReportIsCutOrOverrunsTwentyColumns(command: [String], title: String) throws {
    let scratch = try Scratch()
    try SampleStore.make(at: scratch.store, entries: 600)
    let terminal = try PseudoTerminal(columns: 20)
    let (status, text) = try terminal.run(
      [command[0], scratch.store] + command.dropFirst(),
      environment: ["NO_COLOR": "1"]
    )
    #expect(status == 0)
    let lines = text.split(separator: "\n")
    #expect(lines.contains { $0.split(separator: " ").contains { $0 == title } }, "\(text)")
    // A figure longer than the terminal is wide has a line to itself, which the terminal goes on with in the next.
    for line in lines where line.count > 20 { #expect(line.hasPrefix("  "), "\(line)") }
  }

  @Test func keysAreListedWhole() throws {
    let scratch = try Scratch()
    let key = String(repeating: "long ", count: 10) + "key"
    _ = try scratch.run("put", scratch.store, key, "value")
    let (status, text) = try PseudoTerminal(columns: 20).run(["list", scratch.store])
    #expect(status == 0 && text == key + "\n")
  }
}
