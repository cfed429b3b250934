import Esker
import Foundation
import Testing

@testable import esker_tool

@Suite struct ShellTests {
  private let scratch: Scratch

  init() throws {
    scratch = try Scratch()
    #expect(try scratch.run("put", scratch.store, "at", "Vienna").status == 0)
  }

  private func shell(_ lines: String, _ arguments: String...) throws -> ToolResult {
    try scratch.run(["shell", scratch.store] + arguments, input: Data(lines.utf8))
  }

  @Test func linesAreTheToolsOwnCommands() throws {
    let result = try shell(
      """
      get at
      put 'a b' "c\\\\ d" --ttl 1h
      # a comment, and an empty line

      list --values --sort key
      increment n --keyspace counts
      count --keyspace counts --json
      ttl at
      exists at
      stats --json
      """
    )
    #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
    #expect(result.lines.dropLast() == ["Vienna", "a b\tc\\\\ d", "at\tVienna", "1", #"{"keys":1}"#, "never"])
    #expect(result.lines.last?.hasPrefix("{\"path\":") == true)
    #expect(try scratch.run("get", scratch.store, "a b").text == #"c\ d"#)
  }

  @Test func theFirstFailureIsTheExitCode() throws {
    let lines = "get none\nput\nget at\nnonsense\nquit\nget at\n"
    let result = try shell(lines)
    #expect(result.status == 1 && result.text == "Vienna\n")
    #expect(result.errors.contains("esker: no value for key \"none\"\n"))
    #expect(result.errors.contains("Usage: put [--quiet] <key> <value>"))
    #expect(result.errors.contains("esker: no command \"nonsense\""))
    let stopped = try shell(lines, "--bail")
    #expect(stopped.status == 1 && stopped.text.isEmpty)
    #expect(try shell("put 'a b").status == 64)
    #expect(try scratch.run(["shell", scratch.store], input: Data([0x67, 0xFF, 0x0A])).status == 64)
    #expect(try scratch.run("shell", scratch.path("none")).status == 66)
    let refused = try shell("bench .\n")
    #expect(refused.status == 64 && refused.errors.contains("\"bench\" is not for a shell"))
  }

  @Test func aKeyspaceIsUsedUntilAnotherIs() throws {
    _ = try scratch.run("put", scratch.store, "k", "of scores", "--keyspace", "scores")
    let result = try shell(
      "use scores\ncount\nget k\nput -- n 1\nget at --keyspace ''\nstats --json\nverify -q\nuse\nget at\nuse ''\nget at\n"
    )
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.lines.first == "1" && result.lines.dropFirst().first == "of scores")
    #expect(result.lines.count { $0 == "Vienna" } == 3)
    #expect(try scratch.run("get", scratch.store, "n", "--keyspace", "scores").text == "1")
    let wrong = try shell("use score\nuse a b\ncount\n")
    #expect(wrong.status == 1 && wrong.text == "1\n")
    #expect(
      wrong.errors.contains("did you mean \"scores\"?") && wrong.errors.contains("use takes the name of one keyspace")
    )
  }

  @Test func aStoreIsCreatedIfAsked() throws {
    let new = scratch.path("new")
    #expect(try scratch.run(["shell", new], input: Data("put a 1\n".utf8)).status == 66)
    #expect(try scratch.run(["shell", new, "--create"], input: Data("put a 1\nget a\n".utf8)).text == "1\n")
    #expect(try scratch.run(["shell", new, "--create", "--read-only"], input: Data()).status == 64)
  }

  @Test func aCommandReadsTheRestOfTheInput() throws {
    let result = try shell("put long -\nline 1\nline 2\n")
    #expect(result.status == 0)
    #expect(try scratch.run("get", scratch.store, "long").text == "line 1\nline 2\n")
  }

  @Test func aShellThatOnlyReadsWorksBesideAWriter() throws {
    let writer = try LogStore(at: scratch.store)
    #expect(try shell("get at\n").status == 75)
    let result = try shell("get at\nput x 1\nclear\n", "--read-only")
    #expect(result.status == 64 && result.text == "Vienna\n")
    #expect(
      result.errors
        == String(repeating: "esker: this shell only reads: start it without --read-only to write\n", count: 2)
    )
    let tool = try RunningTool(["shell", scratch.store, "--read-only"])
    for number in 0..<3 {
      try writer.put("\(number)", forKey: "at")
      try tool.write("get at\n")
      #expect(String(decoding: tool.output.fileHandleForReading.availableData, as: UTF8.self) == "\(number)\n")
    }
    #expect(tool.end(with: SIGTERM) == 143)
    try writer.close()
  }

  @Test func everyCommandOfTheShellHasAStore() throws {
    #expect(ShellSession.commands.count == 28)
    let help = try shell("help\nhelp get\nls --help\n")
    #expect(help.status == 0 && help.errors.isEmpty)
    for command in ShellSession.commands {
      #expect(help.text.contains("\n\(command._commandName) ") || help.text.hasPrefix(command._commandName))
    }
    #expect(help.text.contains("USAGE: get [--quiet] <keys> ..."))
    #expect(!help.text.contains("<store>") && !help.text.contains("esker "))
  }

  @Test func damageIsSaidByEveryCommandThatReads() throws {
    try SampleStore.flip(scratch.store, SampleStore.segments(scratch.store)[0], at: 160)
    #expect(try shell("count\n").status == scratch.run("count", scratch.store).status)
  }

  // MARK: On a terminal

  @Test(.enabled(if: TmuxSession.isInstalled))
  func linesAreEditedRecalledAndCompletedOnATerminal() throws {
    _ = try scratch.run("put", scratch.store, "austria", "Wien")
    _ = try scratch.run("put", scratch.store, "z", "one", "--keyspace", "scores")
    let result = try TmuxSession.run(
      columns: 60,
      rows: 60,
      environment: "ESKER_HISTORY='$1.history'",
      #"""
      # A terminal takes keys itself, escape sequences and all, as long as a command runs.
      prompt='^store> *$'
      t send-keys "'$0' shell '$1'" Enter; await "$prompt"
      t send-keys 'ge' Tab 'au' Tab Enter; await '^Wien'; await "$prompt"
      t send-keys Up C-a M-f C-k ' at' Left Left Left Right Right Right BSpace t Enter; await '^Vienna'; await "$prompt"
      t send-keys 'count --keys' Tab 'sc' Tab Enter; await '^1$'; await "$prompt"
      t send-keys 'put k "' 'Zürich 東x京"' Left Left BSpace Enter; await '"Zürich 東京"$'; await "$prompt"
      t send-keys 'get k' Enter; await '^Zürich'; await "$prompt"
      t send-keys 'get a' Tab; await '^at  *austria\|^austria  *at'
      t send-keys C-c; await '\^C'; await "$prompt"
      # However early the key comes, the next prompt does.
      t send-keys 'follow' Enter; await '^store> follow$'; n=0
      until t capture-pane -p | grep -v '^ *$' | tail -n 1 | grep -q "$prompt"; do
        n=$((n+1)); [ $n -lt 600 ] || { echo 'the command does not end'; exit 1; }
        t send-keys C-c
        sleep 0.1
      done
      t send-keys 'get z --keyspace scores' Enter; await '^one$'; await "$prompt"
      t send-keys C-d; await 'done> *$'
      t send-keys 'stty -a | grep -o " icanon"' Enter; await '^ icanon'
      t capture-pane -p
      """#,
      in: scratch
    )
    #expect(result.text.contains("store> get austria\nWien\n"), "\(result.text) \(result.errors)")
    #expect(result.text.contains("store> get at\nVienna\n"), "\(result.text)")
    #expect(result.text.contains("store> count --keyspace scores\n1\n"), "\(result.text)")
    #expect(result.text.contains("\nZürich 東京\n"), "\(result.text)")
    #expect(result.text.contains("\n icanon\n"), "\(result.text)")
    let history = try String(contentsOfFile: scratch.store + ".history", encoding: .utf8)
    #expect(history.hasPrefix("get austria \nget at\n"), "\(history)")
    let mode = try FileManager.default.attributesOfItem(atPath: scratch.store + ".history")[.posixPermissions] as? Int
    #expect(mode == 0o600)
  }

  /// A keyspace in use is no reason to refuse what takes none.
  @Test func aKeyspaceInUseIsOnlyForWhatTakesOne() throws {
    _ = try scratch.run("put", scratch.store, "k", "v", "--keyspace", "scores")
    let stream = scratch.path("all.stream")
    let dump = try shell("use scores\ndump \(stream) --format binary\ndump\n")
    #expect(dump.status == 0, "\(dump.errors)")
    #expect(dump.text == "{\"key\":\"k\",\"value\":\"v\",\"expires\":null}\n")
    let target = scratch.path("target")
    let load = try scratch.run(
      ["shell", target, "--create"],
      input: Data("put a b -k scores\nuse scores\nload \(stream) --format binary -q\ncount\nuse\nget at\n".utf8)
    )
    #expect(load.status == 0 && load.text == "2\nVienna\n", "\(load.text) \(load.errors)")
    // What needs one has it.
    let copy = try shell("use scores\ncopy \(scratch.path("other")) --into others\n")
    #expect(copy.status == 0, "\(copy.errors)")
    #expect(try scratch.run("get", scratch.path("other"), "k", "-k", "others").text == "v")
    let wrong = try shell("use scores\ncount --nonsense\n")
    #expect(wrong.status == 64 && wrong.errors.contains("--nonsense"))
  }
}
