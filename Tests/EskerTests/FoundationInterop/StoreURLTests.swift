import Esker
import Foundation
import Testing

@Suite struct StoreURLTests {
  /// Calls `body` with a directory of its own.
  func withDirectory(_ body: (URL) throws -> Void) throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "esker-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    try body(directory)
  }

  @Test(arguments: ["plain", "with space", "100%", "100%41", "a+b&c?d#e", "Öl und 日本", "trailing/"])
  func aURLAndItsPathAreTheSameStore(name: String) throws {
    try withDirectory { directory in
      let url = directory.appending(path: name)
      let store = try LogStore(at: url)
      try store.put("Vienna", forKey: "at")
      try store.close()
      let expected = name.hasSuffix("/") ? String(name.dropLast()) : name
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [expected])
      let same = try LogStore(at: directory.path + "/" + name)
      #expect(try same.get("at") == Array("Vienna".utf8))
      try same.close()
    }
  }

  @Test func aSlashAtTheEndAndALocalHostMakeNoDifference() throws {
    try withDirectory { directory in
      for text in ["\(directory.path)/s", "\(directory.path)/s/", "//localhost\(directory.path)/s"] {
        let store = try LogStore(at: try #require(URL(string: "file:\(text.hasPrefix("//") ? "" : "//")\(text)")))
        try store.put("1", forKey: text)
        try store.close()
      }
      let store = try LogStore(
        at: URL(filePath: "s", relativeTo: directory.appending(path: "/", directoryHint: .isDirectory))
      )
      #expect(store.statistics.keys == 3)
      try store.close()
    }
  }

  @Test(arguments: [
    "https://example.com/store", "store", "file://elsewhere/tmp/store", "file:", "file:///tmp/a%2Fb",
    "file:///tmp/a%2fb",
    "file:///tmp/a%00b", "file:///tmp/a%FFb",
  ])
  func whatIsNoPathOfAFileIsRefused(text: String) throws {
    let url = try #require(URL(string: text))
    #expect(throws: StoreError.notAStore(path: url.absoluteString)) { try LogStore(at: url) }
  }
}
