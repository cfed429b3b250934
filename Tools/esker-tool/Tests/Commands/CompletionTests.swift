import Foundation
import Testing

/// What shells ask the tool for when the name of a keyspace is to be completed.
@Suite struct CompletionTests {
  private func offered(_ shell: String, _ option: [String], _ words: [String]) throws -> [String] {
    let process = ToolProcess.make(
      try ToolProcess.executable(),
      ["---completion", words[1], "--"] + option + ["\(words.count - 1)", "\(words.last?.count ?? 0)"] + words
    )
    process.environment?["SAP_SHELL"] = shell
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return text.split(separator: "\n").map(String.init)
  }

  @Test func keyspacesOfTheStoreNamedAreOffered() throws {
    let scratch = try Scratch()
    for name in ["plain", "my keys", "a:b"] {
      #expect(try scratch.run("put", scratch.store, "k", "v", "--keyspace", name).status == 0)
    }
    for shell in ["bash", "fish"] {
      let names = try offered(shell, ["--keyspace"], ["esker", "list", scratch.store, "--keyspace", ""])
      #expect(names == ["a:b", "my keys", "plain"])
    }
    #expect(
      try offered("zsh", ["--keyspace"], ["esker", "get", "-q", "'\(scratch.store)'", "--keyspace", ""]).first
        == "a\\:b"
    )
    #expect(try offered("bash", ["positional@0"], ["esker", "drop", scratch.store, ""]).count <= 3)
    #expect(try offered("bash", ["--into"], ["esker", "copy", scratch.store, scratch.store, "--into", ""]).count == 3)
    #expect(try offered("bash", ["--keyspace"], ["esker", "list", scratch.path("none"), "--keyspace", ""]) == [])
  }

  @Test func keysOfTheKeyspaceNamedAreOffered() throws {
    let scratch = try Scratch()
    for (key, keyspace) in [("at", ""), ("austria", ""), ("ch", ""), ("attic", "houses")] {
      #expect(try scratch.run("put", scratch.store, key, "v", "--keyspace", keyspace).status == 0)
    }
    #expect(try offered("fish", ["positional@1"], ["esker", "get", scratch.store, "a"]) == ["at", "austria"])
    #expect(
      try offered("fish", ["positional@1"], ["esker", "get", "--keyspace", "houses", scratch.store, "a"]) == ["attic"]
    )
    #expect(try offered("fish", ["positional@1"], ["esker", "get", scratch.path("none"), "a"]) == [])
  }

  /// The parser's own script offers nothing behind "help".
  @Test func helpOffersCommands() throws {
    let scratch = try Scratch()
    func script(_ shell: String) throws -> String {
      try scratch.run("--generate-completion-script", shell).text
    }
    let path = try scratch.file("esker.bash", try script("bash").utf8)
    let line = """
      source "$1"; COMP_WORDS=(esker help ve); COMP_CWORD=2; COMP_LINE='esker help ve'; COMP_POINT=13
      _esker esker ve help; echo "${COMPREPLY[@]}"
      """
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    process.arguments = ["-c", line, "bash", path]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(text == "verify\n")
    let zsh = try script("zsh")
    #expect(zsh.contains("'1:subcommands:(put ") && !zsh.contains("'*:subcommands:'"))
    #expect(
      try script("fish").contains(
        #"-n '__esker_should_offer_completions_for_positional "esker help" -eq 1' -fa 'verify' -d 'Check every byte"#
      )
    )
  }
}
