import Foundation
import Testing

/// With `--json`, a program learns from standard output why there is no result.
@Suite struct JSONErrorTests {
  private struct Failure: Decodable {
    var error: String
    var exitCode: Int32
    var path: String?
  }

  @Test(arguments: [
    ["stats"], ["verify"], ["count"], ["keyspaces"], ["merge"], ["inspect"], ["big"], ["dump"], ["ttl", "k"],
  ])
  func anErrorIsAnObject(_ command: [String]) throws {
    let scratch = try Scratch()
    let missing = try scratch.run([command[0], scratch.path("none")] + command.dropFirst() + ["--json"])
    #expect(missing.status == 66)
    let failure = try JSONDecoder().decode(Failure.self, from: missing.output)
    #expect(failure.exitCode == 66 && missing.errors == "esker: \(failure.error)\n")
    #expect(try scratch.run([command[0], scratch.path("none")] + command.dropFirst()).output.isEmpty)
  }

  @Test func damageThatPreventsAnOpeningHasAPlace() throws {
    let scratch = try Scratch()
    try SampleStore.make(at: scratch.store, entries: 10)
    for name in ["manifest.a", "manifest.b"] { _ = try scratch.file("store/\(name)", "nothing".utf8) }
    for command in ["stats", "verify"] {
      let result = try scratch.run(command, scratch.store, "--json")
      #expect(result.status == 1)
      let failure = try JSONDecoder().decode(Failure.self, from: result.output)
      #expect(failure.exitCode == 1 && failure.path?.hasPrefix(scratch.store) == true)
    }
  }

  /// What is reported as a result is not reported once more.
  @Test func aReportStaysOneObject() throws {
    let scratch = try Scratch()
    try SampleStore.make(at: scratch.store)
    let name = try #require(try SampleStore.segments(scratch.store).first)
    try SampleStore.flip(scratch.store, name, at: 5_000)
    let result = try scratch.run("verify", scratch.store, "--json")
    #expect(result.status == 1 && result.lines.count == 1)
    #expect(try scratch.run("put", scratch.path("none/none"), "k", "{}", "--json").output.isEmpty)
  }
}
