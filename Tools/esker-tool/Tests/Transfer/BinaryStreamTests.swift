import Foundation
import Testing

@Suite struct BinaryStreamTests {
  private func filled() throws -> Scratch {
    let scratch = try Scratch()
    for (key, value) in [("at", "Vienna"), ("de", "Berlin")] {
      #expect(try scratch.run("put", scratch.store, key, value).status == 0)
    }
    #expect(try scratch.run("put", scratch.store, "at", "Wien", "--keyspace", "names").status == 0)
    return scratch
  }

  @Test func aStreamIsLoadedElsewhere() throws {
    let scratch = try filled()
    let dump = try scratch.run("dump", scratch.store, scratch.path("stream"), "--format", "binary", "--json")
    #expect(dump.status == 0)
    let report = try #require(JSONSerialization.jsonObject(with: dump.output) as? [String: Any])
    #expect(report.keys.sorted() == ["bytes", "entries", "seconds"])
    #expect(report["entries"] as? Int == 3)
    let loaded = try scratch.run(
      "load",
      scratch.path("copy"),
      scratch.path("stream"),
      "--format",
      "binary",
      "--json"
    )
    #expect(loaded.status == 0)
    let counts = try #require(JSONSerialization.jsonObject(with: loaded.output) as? [String: Any])
    #expect(
      counts.keys.sorted() == [
        "bytes", "earlier", "expired", "kept", "notTaken", "records", "replaced", "seconds", "skipped",
      ]
    )
    #expect(counts["records"] as? Int == 3)
    #expect(try scratch.run("get", scratch.path("copy"), "at", "--keyspace", "names").text == "Wien")
  }

  @Test func aStreamGoesThroughAPipe() throws {
    let scratch = try filled()
    let result = try scratch.shell(#""$0" dump "$1" --format binary | "$0" load "$1.copy" - --format binary"#)
    #expect(result.status == 0)
    #expect(result.errors.hasPrefix("loaded 3 records"))
    #expect(try scratch.run("get", scratch.store + ".copy", "de").text == "Berlin")
  }

  @Test func aDamagedStreamExitsWith1AndNamesTheOffset() throws {
    let scratch = try filled()
    var stream = try scratch.run("dump", scratch.store, "--format", "binary").output
    stream[stream.count / 2] ^= 1
    let result = try scratch.run("load", scratch.path("copy"), "-", "--format", "binary", input: stream)
    #expect(result.status == 1)
    #expect(result.errors.contains("at offset "))
    let missing = try scratch.run("load", scratch.path("copy"), scratch.path("nothing"), "--format", "binary")
    #expect(missing.status == 66)
  }
}
