import Esker
import Foundation
import Testing

/// A folder of `Tests/Stores`: the files of a store that some version has written, and what must be read from it. None ever changes.
struct StoreFixture: CustomTestStringConvertible {
  let name: String
  let directory: URL

  var testDescription: String { name }

  /// The folder of all fixtures: one for each version, and in it one for each store.
  static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Stores")

  static let all: [StoreFixture] = names(in: folder).flatMap { version in
    names(in: folder.appending(path: version)).map { store in
      StoreFixture(name: "\(version)/\(store)", directory: folder.appending(path: version).appending(path: store))
    }
  }

  /// The folders in a folder.
  private static func names(in folder: URL) -> [String] {
    let contents = try? FileManager.default.contentsOfDirectory(
      at: folder,
      includingPropertiesForKeys: [.isDirectoryKey]
    )
    let folders = (contents ?? []).filter { (try? $0.resourceValues(forKeys: [.isDirectoryKey]))?.isDirectory == true }
    return folders.map(\.lastPathComponent).sorted()
  }

  func contents() throws -> StoreContents {
    try JSONDecoder().decode(StoreContents.self, from: Data(contentsOf: directory.appending(path: "contents.json")))
  }

  /// Makes a store of the files, each as long as it was.
  func copy(to path: String) throws {
    let contents = try contents()
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    for (name, length) in contents.lengths {
      var bytes = try Data(contentsOf: directory.appending(path: "files").appending(path: name))
      try #require(bytes.count <= length)
      bytes.append(Data(count: length - bytes.count))
      try bytes.write(to: URL(filePath: "\(path)/\(name)"))
    }
  }

  /// Makes a fixture of the files at `path`, without zeros at their ends.
  static func make(_ contents: StoreContents, of path: String, in directory: URL) throws {
    var contents = contents
    let files = directory.appending(path: "files")
    try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
    // What `reserve` holds means nothing.
    for name in try FileManager.default.contentsOfDirectory(atPath: path) where name != "reserve" {
      let bytes = try Data(contentsOf: URL(filePath: "\(path)/\(name)"))
      contents.lengths[name] = bytes.count
      let end = bytes.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0
      try bytes[..<end].write(to: files.appending(path: name))
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    try (encoder.encode(contents) + Data("\n".utf8)).write(to: directory.appending(path: "contents.json"))
  }
}
