import EskerFormat
import Foundation
import Testing

/// Bytes that nobody vouches for: an error, never a trap, never a wrong value.
@Suite struct PackedDamageTests {
  static let records = PackedRecords.mixed(120, seed: 31)

  @Test func everyFlippedByteIsNoticedAndHurtsOnlyItsRecord() throws {
    let records = PackedRecords.mixed(28, seed: 33)
    let file = try PackedFile(records, dictionary: Array(PackedFile.dictionary(of: Self.records).prefix(512)))
    let layout = file.header.layout
    var untouched = 0
    for position in SegmentHeader.length..<file.recordsEnd {
      let mask = UInt8(1) << (position % 8)
      file.bytes.buffer[position] ^= mask
      defer { file.bytes.buffer[position] ^= mask }
      var damaged = 0
      for (record, placement) in zip(records, file.placements) {
        // A value is what was written, or there is none.
        guard let entry = file.view.entry(at: placement.offset), let found = file.plain(entry) else {
          damaged += 1
          continue
        }
        #expect(found == record, "byte \(position)")
      }
      if position < layout.recordsStart {
        // Only what refers to the dictionary's byte is lost.
        untouched += damaged == 0 ? 1 : 0
      } else {
        #expect(damaged <= PackedLayout.cellCapacity, "byte \(position)")
      }
    }
    #expect(layout.dictionaryLength > 0 && untouched > layout.dictionaryLength / 4)
  }

  @Test func damagedValuesOfACellHurtOnlyTheirGroup() throws {
    let records: [PlainRecord] = (10..<58).map { number in
      let value = Array("a tiny document of 32 bytes, #\(number)".utf8)
      return PlainRecord(UInt64(number), key: Array("key \(number)".utf8), value: value)
    }
    let file = try PackedFile(records, dictionary: [])
    let cell = file.placements[0].offset & ~(PackedLayout.cellLength - 1)
    func number(at offset: Int) -> Int {
      Int(file.bytes.buffer[cell + offset]) + 256 * Int(file.bytes.buffer[cell + offset + 1])
    }
    let start = cell + number(at: 8)
    let values = start..<start + number(at: 10)
    let inGroup = number(at: 4)
    #expect(inGroup <= records.count / 2 && file.placements.allSatisfy { $0.offset < cell + PackedLayout.cellLength })
    var noticed = 0
    for position in values {
      file.bytes.buffer[position] ^= 4
      defer { file.bytes.buffer[position] ^= 4 }
      let found = file.placements.map { file.view.entry(at: $0.offset).flatMap(file.plain) }
      let lost = records.indices.filter { found[$0] == nil }
      // A match may have become another one of the same bytes.
      guard let first = lost.first else {
        #expect(found == records)
        continue
      }
      noticed += 1
      #expect(first % inGroup == 0, "byte \(position)")
      #expect(lost == Array(first..<min(first + inGroup, records.count)), "byte \(position)")
      for (record, found) in zip(records, found) { #expect(found == nil || found == record) }
    }
    #expect(noticed > values.count * 9 / 10)
  }

  @Test func walkGoesOnBehindDamage() throws {
    let file = try PackedFile(Self.records)
    for position in stride(from: file.header.layout.recordsStart, to: file.recordsEnd, by: 3) {
      file.bytes.buffer[position] ^= 0x10
      defer { file.bytes.buffer[position] ^= 0x10 }
      var walk = PackedWalk(file.view)
      var found = 0
      while let step = walk.next(in: file.view) {
        if case .record = step { found += 1 }
      }
      #expect(found >= Self.records.count - PackedLayout.cellCapacity, "byte \(position)")
    }
  }

  @Test func everyTruncationEndsTheWalk() throws {
    let file = try PackedFile(Self.records)
    for end in stride(from: 0, through: file.recordsEnd, by: 5) {
      // A copy, so that a checker of memory sees a read beyond the end.
      let cut = AlignedBytes(Array(file.bytes.bytes[..<end]))
      let view = PackedSegmentView(
        base: UnsafeRawPointer(cut.start),
        end: end,
        salt: file.header.salt,
        dictionaryLength: file.header.layout.dictionaryLength
      )
      var walk = PackedWalk(view)
      while let step = walk.next(in: view) {
        if case .record(let entry) = step { #expect(entry.offset + 8 <= end) }
      }
      for placement in file.placements {
        guard let entry = view.entry(at: placement.offset) else { continue }
        #expect(view.damage(of: entry) == nil || end < file.recordsEnd)
      }
    }
  }

  @Test(arguments: 1...8) func noiseIsNeverARecord(seed: UInt64) {
    var random = Seeded(seed)
    for _ in 0..<300 {
      var noise = AlignedBytes(random.bytes(Int.random(in: 0...4_096, using: &random)))
      // Half of the noise looks like a cell.
      if Bool.random(using: &random), noise.buffer.count > 1_100 {
        var bytes = noise.bytes
        bytes[1_039] = Bool.random(using: &random) ? 0x0f : 0x1f
        bytes[1_038] &= 0x3f
        bytes.replaceSubrange(1_028..<1_032, with: [UInt8.random(in: 0...65, using: &random), 0, 0, 0])
        for column in 0..<6 { bytes[1_040 + column] &= 3 }
        bytes[1_033] &= 3
        bytes[1_035] &= 3
        noise = AlignedBytes(bytes)
      }
      let view = PackedSegmentView(
        base: UnsafeRawPointer(noise.start),
        end: noise.buffer.count,
        salt: 1,
        dictionaryLength: 0
      )
      for offset in stride(from: 0, to: noise.buffer.count + 64, by: 8) {
        guard let entry = view.entry(at: offset) else { continue }
        #expect(view.damage(of: entry) != nil, "seed \(seed)")
        // Without verification nothing is promised but that nothing else is touched.
        var value = [UInt8](repeating: 0, count: entry.valueLength)
        _ = value.withUnsafeMutableBytes { view.copyValue(of: entry, into: $0, isVerified: false) }
      }
      var walk = PackedWalk(view)
      while let step = walk.next(in: view) {
        if case .record = step { Issue.record("a record in noise, seed \(seed)") }
      }
    }
  }

  @Test func recordsDoNotMove() throws {
    let file = try PackedFile(Self.records)
    let start = file.header.layout.recordsStart
    // The same bytes sixteen bytes, and a cell's length, further on.
    for distance in [16, PackedLayout.cellLength] {
      let moved = Array(file.bytes.bytes[..<start]) + [UInt8](repeating: 0, count: distance)
      let copy = AlignedBytes(moved + file.bytes.bytes[start..<file.recordsEnd])
      let view = PackedSegmentView(
        base: UnsafeRawPointer(copy.start),
        end: copy.buffer.count,
        salt: file.header.salt,
        dictionaryLength: file.header.layout.dictionaryLength
      )
      for placement in file.placements {
        if let entry = view.entry(at: placement.offset + distance) { #expect(!entry.headIsIntact(salt: view.salt)) }
      }
    }
  }
}
