import Foundation
import Testing

@testable import esker_tool

/// Entries in the order of a field of their values.
@Suite struct FieldOrderTests {
  private func filled() throws -> Scratch {
    let scratch = try Scratch()
    let documents = [
      "a": #"{"size":9,"at":"2026-01-02","in":{"x":"b"}}"#,
      "b": #"{"size":100,"at":"2026-01-01T23:30:00+01:00","in":{"x":"c"}}"#,
      "c": #"{"size":-2.5,"at":"2025-12-31T00:00:00Z","in":{"x":"a"}}"#,
      "d": #"{"size":"9","at":"soon"}"#,
      "e": "no document",
    ]
    for (key, value) in documents { #expect(try scratch.run("put", scratch.store, key, value).status == 0) }
    return scratch
  }

  @Test func fieldsOrderEntries() throws {
    let scratch = try filled()
    func list(_ arguments: String...) throws -> String {
      try scratch.run(["list", scratch.store] + arguments).lines.joined()
    }
    // Numbers as such, then texts; what has no such field is last in both directions.
    #expect(try list("--sort", "size") == "cabde")
    #expect(try list("--sort", "size", "--reverse") == "dbace")
    #expect(try list("--sort", "at") == "cbade")
    #expect(try list("--sort", "in.x") == "cabde")
    #expect(try list("--sort", "in.x", "--limit", "2") == "ca")
    #expect(try list("--sort", "in.x", "--reverse", "-n", "2") == "ba")
    #expect(try list("--sort", "key", "--reverse") == "edcba")
    #expect(try scratch.run("list", scratch.store, "--sort", "a..b").status == 64)
  }

  /// Beyond what is kept in memory at once.
  @Test func aLimitKeepsTheFirstOfMany() throws {
    let scratch = try Scratch()
    var lines = ""
    for number in 0..<5_000 { lines += "{\"id\":\"\(number)\",\"rank\":\(number * 7919 % 5_000)}\n" }
    let load = try scratch.run(["load", scratch.store, "-", "--key-field", "id"], input: Data(lines.utf8))
    #expect(load.status == 0)
    let first = try scratch.run("list", scratch.store, "--sort", "rank", "-n", "3").lines
    #expect(first == (0..<3).map { rank in "\((0..<5_000).first { $0 * 7919 % 5_000 == rank } ?? -1)" })
    let last = try scratch.run("list", scratch.store, "--sort", "rank", "--reverse", "-n", "1").lines
    #expect(last == ["\((0..<5_000).first { $0 * 7919 % 5_000 == 4_999 } ?? -1)"])
  }

  /// A program's instants are numbers in CBOR, and shown as text.
  @Test func instantsOfProgramsAreOrderedAsSuch() throws {
    let scratch = try Scratch()
    for (key, instant) in [
      ("a", "2026-01-01T00:00:00.5Z"), ("b", "2026-01-01T00:00:00Z"), ("c", "0099-01-01T00:00:00Z"),
    ] {
      let value = #"{"at":{"$date":"\#(instant)"}}"#
      #expect(try scratch.run("put", scratch.store, key, value, "--json").status == 0)
    }
    #expect(try scratch.run("list", scratch.store, "--sort", "at", "--decode", "cbor").lines == ["c", "b", "a"])
  }
}
