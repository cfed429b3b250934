import EskerFormat
import Foundation
import Testing

/// Version 1 as it is on disk, for ever.
@Suite struct GoldenTests {
  @Test func segmentOfTheArticleDecodes() throws {
    let file = AlignedBytes(bytes(hex: Golden.segment))
    let header = try SegmentHeader(decoding: ContiguousArray(file.bytes).span.bytes)
    #expect(header == Sample.segmentHeader)
    let inKeyspace = KeyspaceTag(id: 3, incarnation: 1)
    let expected: [(Int, RecordHeader, String, String)] = [
      (128, Self.record(1, .put, "user:1", 3, lag: 1), "user:1", "Ada"),
      (
        176,
        Self.record(2, .put, "user:2", 12, lag: 2, expiry: 1_700_000_060_000, keyspace: inKeyspace, continues: true),
        "user:2", "Grace Hopper"
      ),
      (248, Self.record(3, .tombstone, "user:1", 0, lag: 1), "user:1", ""),
      (
        288,
        RecordHeader(sequence: 3, kind: .seal, keyHash: 0, keyLength: 0, valueLength: 0, durableLag: 1),
        "", ""
      ),
    ]
    var builder = FooterBuilder(segmentID: header.segmentID, salt: header.salt)
    var offset = SegmentHeader.length
    for (place, record, key, value) in expected {
      #expect(offset == place)
      let units = UInt32(offset / 8)
      let start = UnsafeRawPointer(file.start + offset)
      #expect(
        RecordHeader.read(at: start, limit: file.buffer.count - offset, salt: header.salt, offsetUnits: units)
          == .record(record)
      )
      let view = try #require(RecordView(at: start, limit: file.buffer.count - offset))
      #expect(view.damage(salt: header.salt, offsetUnits: units) == nil)
      #expect(String(decoding: view.key, as: UTF8.self) == key)
      #expect(String(decoding: view.value, as: UTF8.self) == value)
      if record.kind != .seal { builder.append(record) }
      offset += record.size
    }
    #expect(builder.encoded() == Array(file.bytes[offset...]))
    #expect(try SegmentFooter(decoding: ContiguousArray(file.bytes[offset...]).span.bytes).entryCount == 3)
  }

  @Test func markOfACopyDecodesAndEncodes() throws {
    let golden = bytes(hex: Golden.copyMark)
    let mark = CopyMark(processID: 4711, storeID: Sample.segmentHeader.storeID)
    #expect(hex(mark.encoded()) == hex(golden))
    #expect(try CopyMark(decoding: ContiguousArray(golden).span.bytes) == mark)
    for (index, _) in golden.enumerated() {
      var damaged = golden
      damaged[index] ^= 0x10
      #expect(throws: FormatError.self, "byte \(index)") { try CopyMark(decoding: ContiguousArray(damaged).span.bytes) }
      #expect(throws: FormatError.self) { try CopyMark(decoding: ContiguousArray(golden[..<index]).span.bytes) }
    }
  }

  @Test func exportStreamOfTheArticleDecodesAndEncodes() throws {
    let golden = bytes(hex: Golden.export)
    let (header, checksum) = try ExportHeader.decode(ContiguousArray(golden).span.bytes)
    #expect(header.sequence == 2)
    #expect(header.storeTime == 1_700_000_000_123)
    #expect(header.encoded() == (Array(golden[..<64]), checksum))
    var keyspace = ExportFrame(.keyspace)
    keyspace.expiry = -1
    var entry = ExportFrame(.entry)
    (entry.keyLength, entry.valueLength, entry.expiry, entry.number) = (2, 6, .max, 1)
    var end = ExportFrame(.end)
    end.number = 1
    var chain = checksum
    for (offset, expected) in [(64, keyspace), (100, entry), (144, end)] {
      let head = golden[offset..<offset + 32]
      #expect(expected.encoded(continuing: chain).bytes == Array(head))
      let (frame, next) = try ExportFrame.decode(ContiguousArray(head).span.bytes, continuing: chain)
      #expect(frame == expected)
      chain = next
    }
    #expect(golden.count == 176)
    #expect(String(decoding: golden[132..<140], as: UTF8.self) == "atVienna")
  }

  /// The same segment, encoded.
  @Test func segmentOfTheArticleEncodes() {
    let golden = bytes(hex: Golden.segment)
    #expect(Sample.segmentHeader.encoded() == Array(golden[..<128]))
    let file = AlignedBytes(golden)
    for (offset, key, value) in [
      (128, "user:1", "Ada"), (176, "user:2", "Grace Hopper"), (248, "user:1", ""), (288, "", ""),
    ] {
      let units = UInt32(offset / 8)
      let salt = Sample.segmentHeader.salt
      let place = file.start + offset
      guard case .record(let header) = RecordHeader.read(at: place, limit: 72, salt: salt, offsetUnits: units) else {
        Issue.record("no record at \(offset)")
        continue
      }
      let target = AlignedBytes(zeros: header.size)
      Array(key.utf8).withUnsafeBytes { key in
        Array(value.utf8).withUnsafeBytes { value in
          let checksum = RecordEncoder.bodyChecksum(key: key, value: value)
          let word = RecordEncoder.write(
            header,
            key: key,
            value: value,
            bodyChecksum: checksum,
            salt: salt,
            offsetUnits: units,
            to: target.start
          )
          RecordEncoder.publish(word, at: target.start)
        }
      }
      #expect(target.bytes == Array(golden[offset..<(offset + header.size)]))
    }
  }

  /// The bytes that a section of the format article shows.
  ///
  /// A line of a dump: four digits of offset, two spaces, bytes in a column of 23, two spaces, words.
  private func bytesShown(under heading: String) throws -> [UInt8] {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let article = try String(
      contentsOf: root.appendingPathComponent("Sources/EskerLog/EskerLog.docc/Format.md"),
      encoding: .utf8
    )
    let section = try #require(article.components(separatedBy: "\n## ").first { $0.hasPrefix(heading) })
    var shown: [UInt8] = []
    for line in section.split(separator: "\n") {
      let columns = Array(line.utf8)
      guard columns.count >= 8, columns[4] == 0x20, columns[5] == 0x20,
        let offset = Int(String(decoding: columns[..<4], as: UTF8.self), radix: 16), offset == shown.count
      else { continue }
      shown += bytes(hex: String(decoding: columns[6..<min(29, columns.count)], as: UTF8.self))
    }
    return shown
  }

  @Test func articleShowsTheSameBytes() throws {
    #expect(try hex(bytesShown(under: "A segment, byte by byte")) == hex(bytes(hex: Golden.segment)))
    let manifest = Array(bytes(hex: Golden.manifest)[..<192])
    #expect(try hex(bytesShown(under: "A manifest, byte by byte")) == hex(manifest))
  }

  @Test func manifestIsGolden() throws {
    let golden = bytes(hex: Golden.manifest)
    #expect(hex(Sample.manifest.encoded()) == hex(golden))
    #expect(try Manifest(decoding: ContiguousArray(golden).span.bytes) == Sample.manifest)
  }

  @Test func historyIsGolden() throws {
    let golden = bytes(hex: Golden.history)
    let manifest = Sample.manifestWithHistory.encoded()
    #expect(hex(manifest.suffix(golden.count)) == hex(golden))
    // Nothing else but its length and what follows from that tells it from one without.
    #expect(manifest.count == Sample.manifest.encoded().count + golden.count)
    #expect(try Manifest(decoding: ContiguousArray(manifest).span.bytes) == Sample.manifestWithHistory)
    #expect(try Manifest(decoding: ContiguousArray(manifest).span.bytes, forgetsHistory: true) == Sample.manifest)
    #expect(try hex(bytesShown(under: "A history, byte by byte")) == hex(golden))
  }

  @Test func checkpointIsGolden() throws {
    let golden =
      bytes(hex: Golden.checkpoint) + Array(repeating: 0, count: 3_932) + bytes(hex: Golden.checkpointChecksum)
    #expect(hex(Sample.checkpoint.encoded()) == hex(golden))
    #expect(
      try CheckpointHeader(decoding: ContiguousArray(golden).span.bytes, fileLength: Sample.checkpointFileLength)
        == Sample.checkpoint
    )
    #expect(hex(Sample.meta.encoded()) == hex(bytes(hex: Golden.meta)))
  }

  private static func record(
    _ sequence: UInt64,
    _ kind: RecordKind,
    _ key: String,
    _ valueLength: Int,
    lag: UInt16,
    expiry: Int64 = .max,
    keyspace: KeyspaceTag = .default,
    continues: Bool = false
  ) -> RecordHeader {
    let hash = KeyHash(seed: Sample.seed, keyspace: keyspace)
    return RecordHeader(
      sequence: sequence,
      kind: kind,
      keyHash: Array(key.utf8).withUnsafeBytes { hash.hash($0) },
      keyLength: key.utf8.count,
      valueLength: valueLength,
      expiry: expiry,
      keyspace: keyspace,
      batchContinues: continues,
      durableLag: lag
    )
  }
}
