import Foundation
import Testing

@Suite struct RepairCommandTests {
  private func filled() throws -> Scratch {
    let scratch = try Scratch()
    for (key, value) in [("at", "Vienna"), ("de", "Berlin is what it was"), ("fr", "Paris")] {
      #expect(try scratch.run("put", scratch.store, key, value).status == 0)
    }
    return scratch
  }

  private func removeManifest(_ scratch: Scratch) throws {
    for name in ["manifest.a", "manifest.b"] { try FileManager.default.removeItem(atPath: scratch.store + "/" + name) }
  }

  @Test func anIntactStoreLosesNothing() throws {
    let scratch = try filled()
    let result = try scratch.run("repair", scratch.store, scratch.path("new"))
    #expect(result.status == 0)
    #expect(result.text.contains("3 entries"))
    #expect(result.text.contains("nothing lost"))
    #expect(try scratch.run("get", scratch.path("new"), "at").text == "Vienna")
  }

  @Test func aStoreWithoutItsManifestIsReadAllTheSame() throws {
    let scratch = try filled()
    try removeManifest(scratch)
    #expect(try scratch.run("get", scratch.store, "at").status == 1)
    let result = try scratch.run("repair", scratch.store, scratch.path("new"))
    #expect(result.status == 1)
    #expect(result.text.contains("the manifest is lost"))
    #expect(try scratch.run("count", scratch.path("new")).text == "3\n")
  }

  @Test func aDamagedValueIsNamedWithItsKey() throws {
    let scratch = try filled()
    let names = try FileManager.default.contentsOfDirectory(atPath: scratch.store)
    let segment = try #require(names.filter { $0.hasSuffix(".segment") }.sorted().first)
    let url = URL(fileURLWithPath: scratch.store + "/" + segment)
    var bytes = try Data(contentsOf: url)
    let place = try #require(bytes.range(of: Data("what it was".utf8)))
    bytes[place.lowerBound] ^= 1
    try bytes.write(to: url)
    let result = try scratch.run("repair", scratch.store, scratch.path("new"), "--json")
    #expect(result.status == 1)
    let report = try #require(JSONSerialization.jsonObject(with: result.output) as? [String: Any])
    #expect(
      report.keys.sorted() == [
        "bytes", "bytesOverCapacity", "entries", "expired", "foundManifest", "losses", "segments",
      ]
    )
    #expect(report["entries"] as? Int == 2)
    let losses = try #require(report["losses"] as? [[String: Any]])
    #expect(losses.count == 1)
    #expect(losses.first?["key"] as? String == "de")
    #expect(try scratch.run("get", scratch.path("new"), "fr").text == "Paris")
    #expect(try scratch.run("get", scratch.path("new"), "de").status == 1)
  }

  @Test func whatIsNoStoreIsRefused() throws {
    let scratch = try filled()
    #expect(try scratch.run("repair", scratch.path("nothing"), scratch.path("new")).status == 66)
    #expect(try scratch.run("repair", scratch.directory.path, scratch.path("new")).status == 66)
    #expect(!FileManager.default.fileExists(atPath: scratch.path("new")))
    #expect(try scratch.run("repair", scratch.store, scratch.directory.path).status == 74)
  }

  /// Without a manifest, something is lost, whatever the segments have.
  @Test func aLostManifestIsNotNothingLost() throws {
    let scratch = try filled()
    try removeManifest(scratch)
    let result = try scratch.run("repair", scratch.store, scratch.path("new"))
    #expect(result.status == 1)
    #expect(!result.text.contains("nothing lost"), "\(result.text)")
    try #require(result.lines.count == 2, "\(result.text)")
    #expect(result.lines[0].contains("a file that is missing is not noticed"), "\(result.lines[0])")
    #expect(result.lines[1].hasSuffix("3 entries from 1 segment, no damaged record, but the manifest is lost"))
  }
}
