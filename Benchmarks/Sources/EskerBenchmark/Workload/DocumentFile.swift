import CLimits
import CacheTraces
import Foundation

/// Documents, with their line number, from 0, as the key.
struct DocumentFile {
  var name: String
  var lines: [[UInt8]]

  var count: Int { lines.count }
  var longest: Int { lines.map(\.count).max() ?? 0 }
  var lengthOfLines: Int { lines.reduce(0) { $0 + $1.count } }
  var lengthOfKeys: Int { lines.indices.reduce(0) { $0 + key($1).count } }

  func line(_ index: Int) -> [UInt8] { lines[index] }
  func key(_ index: Int) -> [UInt8] { Array(String(index).utf8) }

  /// The given files, or one made up.
  static func all(_ assignment: Assignment) throws -> [DocumentFile] {
    guard let directory = assignment.documents else {
      let lines = (0..<min(assignment.operations, 5_000)).map { number in
        "{\"number\":\(number),\"name\":\"document \(bench_mix(UInt64(number)) % 1_000)\",\"tags\":[\"made\",\"up\"]}"
      }
      return [DocumentFile(name: "made-up", lines: lines.map { Array($0.utf8) })]
    }
    return try FileManager.default.contentsOfDirectory(atPath: directory).sorted().map { name in
      let lines = try unpack(directory + "/" + name).split(separator: UInt8(ascii: "\n"))
      return DocumentFile(
        name: String(name.prefix { $0 != "." }),
        lines: lines.prefix(assignment.operations).map { Array($0) }
      )
    }
  }
}
