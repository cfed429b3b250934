import EskerFormat
import Foundation
import Testing

/// The packed segment of the format article, and one as they were written before, for ever.
@Suite struct PackedGoldenTests {
  static func golden(hasGroups: Bool) -> [UInt8] {
    var file = [UInt8](repeating: 0, count: Golden.packedSegmentLength)
    for (offset, text) in hasGroups ? Golden.groupedSegment : Golden.packedSegment {
      let piece = bytes(hex: text)
      file.replaceSubrange(offset..<offset + piece.count, with: piece)
    }
    return file
  }

  static let film = """
    {"title":"The New York Hat","year":1912,"cast":["Mary Pickford","Charles Hill Mailes","Kate Bruce","Alfred Paget",\
    "Claire McDowell"],"genres":["Drama","Short","Silent"]}
    """

  @Test(arguments: [false, true]) func packedSegmentDecodes(hasGroups: Bool) throws {
    let golden = Self.golden(hasGroups: hasGroups)
    let file = AlignedBytes(golden)
    let header = try SegmentHeader(decoding: ContiguousArray(file.bytes).span.bytes)
    #expect(header.kind == .packed && header.dictionaryLength == 64 && header.plainBytes == 352)
    #expect(header.hasGroups == hasGroups)
    let footer = Array(golden[2048...])
    let view = PackedSegmentView(
      base: UnsafeRawPointer(file.start),
      end: Int(try SegmentFooter(decoding: ContiguousArray(footer).span.bytes).recordsEnd),
      salt: header.salt,
      dictionaryLength: 64
    )
    #expect(header.dictionaryChecksum == CRC32C.checksum(of: view.dictionary))
    let expected: [(Int, PlainRecord)] = [
      (192, PlainRecord(7, key: Array("film:1".utf8), value: Array(Self.film.utf8), expiry: 1_700_000_060_000)),
      (1032, PlainRecord(8, key: Array("user:1".utf8), value: Array("Ada".utf8))),
      (1368, PlainRecord(9, .tombstone, key: Array("user:2".utf8))),
      (1704, PlainRecord(12, key: Array("user:3".utf8), value: Array("Grace".utf8))),
    ]
    var walk = PackedWalk(view)
    var cursor = try SegmentFooter(decoding: ContiguousArray(footer).span.bytes).entries(header.layout)
    for (offset, record) in expected {
      guard case .record(let entry) = walk.next(in: view) else {
        Issue.record("no record at \(offset)")
        return
      }
      #expect(entry.offset == offset && view.damage(of: entry) == nil)
      var value = [UInt8](repeating: 0, count: entry.valueLength)
      #expect(value.withUnsafeMutableBytes { view.copyValue(of: entry, into: $0, isVerified: true) } == nil)
      #expect(value == record.value && entry.key == record.key)
      #expect(entry.sequence == record.header.sequence && entry.kind == record.header.kind)
      #expect(entry.expiry == record.header.expiry && entry.keyspace == record.header.keyspace)
      let told = try #require(try cursor.next(in: ContiguousArray(footer).span.bytes))
      #expect(Int(told.offset) == offset && Int(told.size) == entry.size && told.keyHash == record.header.keyHash)
    }
    #expect(walk.next(in: view) == nil)
    #expect(try cursor.next(in: ContiguousArray(footer).span.bytes) == nil)
  }

  @Test func articleShowsTheSamePackedBytes() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let article = try String(
      contentsOf: root.appendingPathComponent("Sources/EskerLog/EskerLog.docc/Format.md"),
      encoding: .utf8
    )
    let golden = Self.golden(hasGroups: true)
    var shown = 0
    // As the dump of the other segment, but for a fifth digit.
    for line in article.split(separator: "\n") {
      let columns = Array(line.utf8)
      guard columns.count >= 9, columns[5] == 0x20, columns[6] == 0x20,
        let offset = Int(String(decoding: columns[..<5], as: UTF8.self), radix: 16)
      else { continue }
      let piece = bytes(hex: String(decoding: columns[7..<min(30, columns.count)], as: UTF8.self))
      #expect(hex(piece) == hex(golden[offset..<offset + piece.count]), "\(line)")
      shown += piece.count
    }
    #expect(shown == 485)
  }
}
