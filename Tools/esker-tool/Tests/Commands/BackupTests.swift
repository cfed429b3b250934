import Foundation
import Testing

@Suite struct BackupCommandTests {
  private func filled() throws -> Scratch {
    let scratch = try Scratch()
    for (key, value) in [("at", "Vienna"), ("de", "Berlin"), ("fr", "Paris")] {
      #expect(try scratch.run("put", scratch.store, key, value).status == 0)
    }
    return scratch
  }

  @Test func aBackupIsRestoredAfterTheStoreIsGone() throws {
    let scratch = try filled()
    let backup = try scratch.run("backup", scratch.store, scratch.path("backup"), "--json")
    #expect(backup.status == 0)
    let report = try #require(JSONSerialization.jsonObject(with: backup.output) as? [String: Any])
    #expect(
      report.keys.sorted() == ["bytes", "copiedBytes", "path", "segments", "sequence", "sharedSegments"]
    )
    #expect(report["sequence"] as? Int == 3)
    try FileManager.default.removeItem(atPath: scratch.store)
    let restored = try scratch.run("restore", scratch.path("backup"), scratch.store)
    #expect(restored.status == 0)
    #expect(restored.text.contains("up to #3"))
    #expect(try scratch.run("get", scratch.store, "at").text == "Vienna")
    #expect(try scratch.run("verify", scratch.store).status == 0)
    #expect(try scratch.run("count", scratch.path("backup")).text == "3\n")
  }

  @Test func aBackupIsMadeBesideAWriter() throws {
    let scratch = try Scratch()
    let load = try OpenLoad(store: scratch.store)
    #expect(try load.feed(#"{"id":"a"}"#) == "1\n")
    #expect(try scratch.run("backup", scratch.store, scratch.path("backup")).status == 0)
    #expect(try load.feed(#"{"id":"b"}"#) == "2\n")
    #expect(try load.finish() == 0)
    #expect(try scratch.run("list", scratch.path("backup")).text == "a\n")
  }

  @Test func aDirectoryInUseIsRefused() throws {
    let scratch = try filled()
    let result = try scratch.run("backup", scratch.store, scratch.directory.path)
    #expect(result.status == 74)
    #expect(result.errors.contains("not empty"))
    #expect(try scratch.run("backup", scratch.path("nothing"), scratch.path("backup")).status == 66)
    #expect(!FileManager.default.fileExists(atPath: scratch.path("backup")))
  }

  @Test func aBackupSinceAnotherOneIsWhole() throws {
    let scratch = try filled()
    #expect(try scratch.run("backup", scratch.store, scratch.path("one"), "--copy").status == 0)
    #expect(try scratch.run("put", scratch.store, "it", "Rome").status == 0)
    #expect(try scratch.run("backup", scratch.store, scratch.path("two"), "--since", scratch.path("one")).status == 0)
    try FileManager.default.removeItem(atPath: scratch.path("one"))
    #expect(try scratch.run("count", scratch.path("two")).text == "4\n")
    #expect(
      try scratch.run("backup", scratch.store, scratch.path("three"), "--since", scratch.path("one")).status == 66
    )
  }
}
