import EskerFormat
import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// A cursor stays within the end that it is given and within the file, never goes back, and passes what is damaged.
@Suite struct RecordCursorTests {
  /// A segment with records of different sizes, numbered from 1.
  private final class Log {
    let segment: Segment
    /// Where each record begins, and where the last one ends.
    private(set) var places: [Int] = []
    private let directory: TemporaryDirectory
    private let granules: GranuleTable

    init(records: Int) throws {
      directory = try TemporaryDirectory()
      granules = try #require(GranuleTable())
      let file = try Platform.system.fileSystem.open(directory.appending("segment"), .create)
      segment = Segment(
        id: 1,
        kind: .log,
        salt: 7,
        path: directory.appending("segment"),
        file: file,
        mapping: try file.map(capacity: 1 << 20, writable: true),
        pages: PageAdvice(.system),
        capacity: 1 << 20,
        lease: try #require(AddressSpace().take(GranuleTable.granules(for: 1 << 20))),
        created: 0
      )
      granules.install(segment)
      try segment.grow(to: 64 << 10, in: granules)
      var offset = SegmentHeader.length
      for number in 1...records {
        places.append(offset)
        offset += write(
          UInt64(number),
          value: [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: number * 13 % 90),
          at: offset
        )
      }
      places.append(offset)
    }

    deinit {
      granules.uninstall(segment)
      granules.deallocate()
    }

    var end: Int { places[places.count - 1] }

    /// Returns the record's size.
    @discardableResult
    func write(_ number: UInt64, kind: RecordKind = .put, value: [UInt8], at offset: Int) -> Int {
      let key = kind == .filler ? [] : Array("key \(number)".utf8)
      let header = RecordHeader(
        sequence: number,
        kind: kind,
        keyHash: number,
        keyLength: key.count,
        valueLength: value.count
      )
      key.withUnsafeBytes { key in
        value.withUnsafeBytes { value in
          let word = RecordEncoder.write(
            header,
            key: key,
            value: value,
            bodyChecksum: RecordEncoder.bodyChecksum(key: key, value: value),
            salt: segment.salt,
            offsetUnits: UInt32(offset >> 3),
            to: segment.base + offset
          )
          RecordEncoder.publish(word, at: segment.base + offset)
        }
      }
      return header.size
    }

    /// Flips a bit in the header of a record.
    func damage(record index: Int) {
      let place = segment.base + places[index] + 9
      place.storeBytes(of: place.load(as: UInt8.self) ^ 4, as: UInt8.self)
    }
  }

  private func numbers(_ cursor: inout RecordCursor) -> [UInt64] {
    var found: [UInt64] = []
    while let (_, header) = cursor.next() { found.append(header.sequence) }
    return found
  }

  @Test func recordsComeOneAfterTheOther() throws {
    let log = try Log(records: 20)
    var cursor = RecordCursor(log.segment, to: log.end)
    for (index, place) in log.places.dropLast().enumerated() {
      #expect(cursor.offset == place)
      let found = cursor.next()
      #expect(found?.offset == place && found?.header.sequence == UInt64(index + 1))
    }
    #expect(cursor.offset == log.end && cursor.next() == nil && cursor.offset == log.end)
  }

  @Test func nothingIsReadBeyondTheEndThatIsGiven() throws {
    let log = try Log(records: 20)
    for index in 1..<20 {
      for end in [log.places[index], log.places[index] + 8, log.places[index + 1] - 8] {
        var cursor = RecordCursor(log.segment, to: end)
        #expect(numbers(&cursor).count == index)
        #expect(cursor.offset == log.places[index])
        cursor.seek()
        #expect(cursor.offset == end && cursor.next() == nil)
      }
    }
  }

  @Test func aFileThatIsShorterEndsTheWalk() throws {
    let log = try Log(records: 20)
    var cursor = RecordCursor(log.segment, to: 1 << 40)
    #expect(numbers(&cursor).count == 20)
    let passed = cursor.seek()
    #expect(passed == log.end..<1 << 40 && cursor.next() == nil)
  }

  @Test func whatIsDamagedIsPassedOnceAndExactly() throws {
    let log = try Log(records: 20)
    for index in [0, 5, 6, 19] { log.damage(record: index) }
    var cursor = RecordCursor(log.segment, to: log.end)
    var (found, passed): ([UInt64], [Range<Int>]) = ([], [])
    while cursor.offset < log.end {
      let before = cursor.offset
      if let (_, header) = cursor.next() { found.append(header.sequence) } else { passed.append(cursor.seek()) }
      #expect(cursor.offset > before)
    }
    #expect(found == [2, 3, 4, 5] + Array(8...19))
    #expect(
      passed == [
        log.places[0]..<log.places[1], log.places[5]..<log.places[7], log.places[19]..<log.end,
      ]
    )
  }

  /// A mark is a filler with a number.
  @Test func fillersArePassedAndMarksWhereTheyAreNotWanted() throws {
    let log = try Log(records: 5)
    let length = log.places[2] - log.places[1]
    log.segment.base.storeBytes(of: RecordFiller.word(size: length), toByteOffset: log.places[1], as: UInt64.self)
    let end = log.end + log.write(5, kind: .filler, value: [], at: log.end)
    var cursor = RecordCursor(log.segment, to: end)
    #expect(numbers(&cursor) == [1, 3, 4, 5] && cursor.offset == end)
    cursor = RecordCursor(log.segment, to: end, stopsAtMarks: true)
    for _ in 0..<4 { #expect(cursor.next()?.header.isMark == false) }
    #expect(cursor.offset == log.end)
    let mark = cursor.next()
    #expect(mark?.header.isMark == true && mark?.header.sequence == 5)
    #expect(cursor.next() == nil && cursor.offset == end)
  }

  @Test func onlyAnAcceptedRecordIsSought() throws {
    let log = try Log(records: 20)
    log.damage(record: 0)
    var cursor = RecordCursor(log.segment, to: log.end)
    #expect(cursor.seek { $0.sequence >= 12 } == log.places[0]..<log.places[11])
    // What stands here is accepted.
    #expect(cursor.seek { $0.sequence >= 12 }.isEmpty)
    #expect(cursor.seek { $0.sequence > 20 } == log.places[11]..<log.end)
  }

  /// Another process may publish a record while the cursor looks behind it: that one is not passed.
  @Test func aRecordThatAppearsWhileTheNextIsSoughtIsNotPassed() throws {
    let log = try Log(records: 3)
    let place = log.places[1]
    let word = log.segment.base.load(fromByteOffset: place, as: UInt64.self)
    log.segment.base.storeBytes(of: 0, toByteOffset: place, as: UInt64.self)
    var cursor = RecordCursor(log.segment, from: place, to: log.end)
    let base = log.segment.base
    let passed = cursor.seek { header in
      if header.sequence == 3 { base.storeBytes(of: word, toByteOffset: place, as: UInt64.self) }
      return true
    }
    #expect(passed.isEmpty && cursor.next()?.header.sequence == 2)
  }
}
