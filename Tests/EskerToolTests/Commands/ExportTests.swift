import Foundation
import Testing

@Suite struct ExportCommandTests {
  private func filled() throws -> Scratch {
    let scratch = try Scratch()
    for (key, value) in [("at", "Vienna"), ("de", "Berlin")] {
      #expect(try scratch.run("put", scratch.store, key, value).status == 0)
    }
    #expect(try scratch.run("put", scratch.store, "at", "Wien", "--keyspace", "names").status == 0)
    return scratch
  }

  @Test func anExportIsImportedElsewhere() throws {
    let scratch = try filled()
    let export = try scratch.run("export", scratch.store, scratch.path("stream"), "--json")
    #expect(export.status == 0)
    let report = try #require(JSONSerialization.jsonObject(with: export.output) as? [String: Any])
    #expect(report.keys.sorted() == ["bytes", "entries"])
    #expect(report["entries"] as? Int == 3)
    let imported = try scratch.run("import", scratch.path("copy"), scratch.path("stream"), "--json")
    #expect(imported.status == 0)
    let counts = try #require(JSONSerialization.jsonObject(with: imported.output) as? [String: Any])
    #expect(counts.keys.sorted() == ["bytes", "entries", "expired", "keyspaces"])
    #expect(counts["entries"] as? Int == 3)
    #expect(try scratch.run("get", scratch.path("copy"), "at", "--keyspace", "names").text == "Wien")
  }

  @Test func anExportGoesThroughAPipe() throws {
    let scratch = try filled()
    let result = try scratch.shell(#""$0" export "$1" | "$0" import "$1.copy" -"#)
    #expect(result.status == 0)
    #expect(result.text.contains("3 entries"))
    #expect(try scratch.run("get", scratch.store + ".copy", "de").text == "Berlin")
  }

  @Test func aFileThatIsThereIsNotWrittenOver() throws {
    let scratch = try filled()
    let taken = try scratch.file("taken", Array("mine".utf8))
    #expect(try scratch.run("export", scratch.store, taken).status == 74)
    #expect(try String(contentsOfFile: taken, encoding: .utf8) == "mine")
  }

  @Test func aDamagedStreamExitsWith1AndNamesTheOffset() throws {
    let scratch = try filled()
    var stream = try scratch.run("export", scratch.store).output
    stream[stream.count / 2] ^= 1
    let result = try scratch.run("import", scratch.path("copy"), "-", input: stream)
    #expect(result.status == 1)
    #expect(result.errors.contains("at offset "))
    #expect(try scratch.run("import", scratch.path("copy"), scratch.path("nothing")).status == 66)
  }
}
