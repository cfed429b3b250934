import EskerFormat
import Foundation
import Testing

@Suite struct PackedSegmentTests {
  @Test(arguments: [1, 2, 3, 4, 5], [LZ4Level.fast, .high(4)])
  func everyRecordIsFoundWhereTheWriterPutIt(seed: UInt64, level: LZ4Level) throws {
    let records = PackedRecords.mixed(1_500, seed: seed)
    let file = try PackedFile(records, level: level)
    #expect(file.placements.count == records.count)
    for (record, placement) in zip(records, file.placements) {
      let entry = try #require(file.view.entry(at: placement.offset), "seed \(seed)")
      #expect(entry.size == placement.size && entry.offset == placement.offset)
      #expect(file.view.damage(of: entry) == nil)
      #expect(file.plain(entry) == record, "seed \(seed)")
      #expect(record.key.withUnsafeBytes { entry.isFor($0, keyspace: record.header.keyspace) })
      #expect(entry.keyHash(Sample.seed) == record.header.keyHash)
      if let stored = file.view.storedValue(of: entry) {
        #expect(file.view.storedValueIsIntact(entry) && stored.elementsEqual(record.value))
      }
    }
    #expect(Set(file.placements.map(\.offset)).count == records.count)
  }

  @Test(arguments: [1, 2, 3]) func walkAndFooterTellOfTheSameRecords(seed: UInt64) throws {
    let records = PackedRecords.mixed(1_500, seed: seed)
    let file = try PackedFile(records)
    let footer = try file.footerEntries()
    var walk = PackedWalk(file.view)
    var walked: [PlainRecord] = []
    var places: [Int] = []
    while let step = walk.next(in: file.view) {
      guard case .record(let entry) = step else {
        Issue.record("damage in an intact segment, seed \(seed)")
        continue
      }
      walked.append(try #require(file.plain(entry)))
      places.append(entry.offset)
      let told = try #require(footer.first { Int($0.offset) == entry.offset })
      #expect(Int(told.size) == entry.size && told.sequence == entry.sequence && told.kind == entry.kind)
      #expect(told.keyHash == entry.keyHash(Sample.seed) && told.keyspace == entry.keyspace)
      #expect(told.expires == (entry.expiry != .max))
    }
    #expect(Set(walked) == Set(records) && walked.count == records.count)
    #expect(places == footer.map { Int($0.offset) } && places == places.sorted())
    // Nothing is counted twice, and nothing but gaps before cells is left out.
    let taken = footer.reduce(0) { $0 + Int($1.size) }
    #expect(taken <= file.recordsEnd && Double(taken) > 0.9 * Double(file.recordsEnd - file.header.layout.recordsStart))
  }

  @Test func onlyTinyRecordsShareCells() throws {
    let tiny = PlainRecord(1, key: Array("key".utf8), value: Array(repeating: 1, count: PackedLayout.tinyLength - 3))
    let larger = PlainRecord(2, key: Array("key2".utf8), value: Array(repeating: 1, count: PackedLayout.tinyLength - 3))
    let file = try PackedFile([tiny, larger])
    #expect(file.placements[0].offset % 16 == 8 && file.placements[0].size == PackedLayout.cellLength)
    #expect(file.placements[1].offset % 16 == 0)
  }

  @Test func whatDoesNotShrinkStaysAsItIs() throws {
    var random = Seeded(9)
    let noise = PlainRecord(1, key: Array("noise".utf8), value: random.bytes(2_000))
    let text = PlainRecord(2, key: Array("text".utf8), value: Array(repeating: 65, count: 2_000))
    let file = try PackedFile([noise, text], dictionary: [])
    let entries = file.placements.compactMap { file.view.entry(at: $0.offset) }
    #expect(file.view.storedValue(of: entries[0])?.elementsEqual(noise.value) == true)
    #expect(file.view.storedValue(of: entries[1]) == nil && entries[1].size < 100)
    #expect(file.plain(entries[1]) == text)
  }

  /// A look-up decompresses a group: longer ones take longer, and shorter ones more space.
  @Test(arguments: [1, 10, 46, 140]) func valuesInACellShareGroups(length: Int) throws {
    let value = [UInt8](repeating: 65, count: length)
    let records: [PlainRecord] = (0..<400).map { number in
      PlainRecord(UInt64(number + 1), key: Array("key \(number)".utf8), value: value)
    }
    let file = try PackedFile(records)
    var longest = 0
    for (record, placement) in zip(records, file.placements) {
      let entry = try #require(file.view.entry(at: placement.offset))
      #expect(file.plain(entry) == record)
      #expect(entry.plainLength <= PackedLayout.groupLength)
      longest = max(longest, entry.plainLength)
    }
    #expect(longest == min(PackedLayout.groupLength / length, 64) * length)
  }

  @Test func emptySegmentHasNoRecords() throws {
    let file = try PackedFile([])
    var walk = PackedWalk(file.view)
    #expect(walk.next(in: file.view) == nil)
    #expect(try file.footerEntries().isEmpty)
  }

  @Test func dictionaryIsMadeOfWhatSamplesShare() throws {
    var trainer = PackDictionary()
    for number in 0..<2_000 { PackedRecords.document(number).withUnsafeBytes { trainer.add($0) } }
    let dictionary = trainer.train(length: 4_096)
    #expect(dictionary.count == 4_096)
    let records = (0..<500).map { PlainRecord(UInt64($0 + 1), key: [1], value: PackedRecords.document($0)) }
    let with = try PackedFile(records, dictionary: dictionary)
    let without = try PackedFile(records, dictionary: [])
    #expect(2 * (with.recordsEnd - 4_096) < without.recordsEnd)
    #expect(PackDictionary().train(length: 65_536).isEmpty)
  }

  @Test func segmentHeaderKeepsWhatItSaysOfPacking() throws {
    let file = try PackedFile(PackedRecords.mixed(300, seed: 4))
    let header = try SegmentHeader(decoding: ContiguousArray(file.bytes.bytes).span.bytes)
    #expect(header == file.header && header.kind == .packed && header.dictionaryLength > 0)
    #expect(header.dictionaryChecksum == CRC32C.checksum(of: file.view.dictionary))
    let plain = PackedRecords.mixed(300, seed: 4).reduce(0) { $0 + $1.header.size }
    #expect(header.plainBytes == UInt64(plain))
  }
}
