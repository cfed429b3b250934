import EskerFormat
import Foundation
import Testing

/// What packing makes of real documents. `ESKER_DOCUMENTS` names a directory with NDJSON files.
@Suite struct PackingFigureTests {
  static let directory = ProcessInfo.processInfo.environment["ESKER_DOCUMENTS"]

  @Test(
    .enabled(if: directory != nil, "ESKER_DOCUMENTS names no directory with documents"),
    arguments: [("movies-early", 0.40), ("talks", 0.35), ("admin2", 0.70)]
  )
  func packedDocumentsTakeLittleSpace(name: String, limit: Double) throws {
    let url = URL(fileURLWithPath: Self.directory ?? "").appendingPathComponent("\(name).ndjson")
    let lines = try Data(contentsOf: url).split(separator: 10).map { [UInt8]($0) }
    let records = lines.enumerated().map { number, line in
      PlainRecord(UInt64(number + 1), key: Array(String(number + 1).utf8), value: line)
    }
    var trainer = PackDictionary()
    let total = lines.reduce(0) { $0 + $1.count }
    var passed = 0
    for line in lines {
      passed += line.count
      if trainer.sampledBytes < passed * min(4 << 20, total) / total { line.withUnsafeBytes { trainer.add($0) } }
    }
    let file = try PackedFile(records, dictionary: trainer.train(length: PackDictionary.length(for: total)))
    let share = Double(file.bytes.buffer.count) / Double(total)
    print("\(name): \(file.bytes.buffer.count) of \(total) bytes, \(share), dictionary \(file.header.dictionaryLength)")
    #expect(share <= limit)
  }
}
