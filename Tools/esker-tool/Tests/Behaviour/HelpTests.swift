import Foundation
import Testing

/// What somebody finds who does not know the tool.
@Suite struct HelpTests {
  @Test(arguments: [("find", "list --where"), ("grep", "list --where"), ("search", "list --where")])
  func wordsOfOtherToolsLeadToConditions(_ word: String, _ meant: String) throws {
    let result = try Scratch().run(word, "s")
    #expect(result.status == 64 && result.errors == "esker: no command \"\(word)\": did you mean \"\(meant)\"?\n")
  }

  @Test func nothingIsGuessedOfAWordThatIsLikeNone() throws {
    #expect(try Scratch().run("help", "nosuch").errors == "esker: no command \"nosuch\": see esker help\n")
  }

  @Test func theKeyspaceThatWasMeantIsNamed() throws {
    let scratch = try Scratch()
    #expect(try scratch.run("put", scratch.store, "k", "v", "--keyspace", "airports").status == 0)
    for command in [["count", scratch.store, "--keyspace", "airport"], ["drop", scratch.store, "airprots"]] {
      let result = try scratch.run(command)
      #expect(result.status == 1 && result.errors.hasSuffix(": did you mean \"airports\"?\n"), "\(result.errors)")
    }
    let other = try scratch.run("count", scratch.store, "--keyspace", "zebra")
    #expect(other.errors == "esker: no keyspace \"zebra\" in \(scratch.store)\n")
  }

  @Test func messagesNameWhatIsMeant() throws {
    let scratch = try Scratch()
    let bench = try scratch.run("bench", scratch.path("none"))
    #expect(bench.status == 66 && bench.errors == "esker: no directory at \(scratch.path("none"))\n")
    let limit = try scratch.run("list", scratch.store, "--limit", "-1")
    #expect(limit.status == 64 && limit.errors.contains("--limit takes a number of at least 0, and -1 is less."))
  }

  @Test func theManualPageHasItsSections() throws {
    let page = try Scratch().run("---manual")
    #expect(page.status == 0)
    for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "ENTRY COMMANDS", "ENVIRONMENT", "FILES", "EXIT STATUS"] {
      #expect(page.lines.contains(".SH \(section)"), "\(section)")
    }
    #expect(page.text.contains("esker list cities.esker \\-\\-match 'U+1F98[0\\-5]' \\-\\-sort key\n"))
    // An empty line is none of roff's, and a line with a dot is a request.
    #expect(!page.text.contains("\n\n"))
    let requests = Set(page.lines.filter { $0.hasPrefix(".") || $0.hasPrefix("'") }.map { $0.prefix(3) })
    #expect(requests.isSubset(of: [".TH", ".SH", ".SS", ".PP", ".TP", ".B ", ".nf", ".fi", ".sp"]), "\(requests)")
  }

  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/groff")))
  func theManualPageIsAccepted() throws {
    let result = try Scratch().shell(#""$0" ---manual | /usr/bin/groff -man -Tutf8 -ww -z"#)
    #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
  }
}
