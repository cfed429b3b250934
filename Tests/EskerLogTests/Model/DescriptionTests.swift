import Foundation
import Testing

@testable import EskerLog

@Suite struct DescriptionTests {
  @Test(arguments: [
    (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
    (1_772_366_400_123, "2026-03-01T12:00:00.123Z"), (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
    (253_402_300_800_000, "+10000-01-01T00:00:00.000Z"), (-62_167_219_200_001, "-0001-12-31T23:59:59.999Z"),
    (Int64.max, "+292278994-08-17T07:12:55.807Z"), (Int64.min, "-292275055-05-16T16:47:04.192Z"),
  ])
  func aTimeIsWrittenAsISO8601(milliseconds: Int64, text: String) {
    #expect("\(WallTime(millisecondsSince1970: milliseconds))" == text)
  }

  @Test func itsFormAgreesWithFoundation() {
    let formatter = ISO8601DateFormatter()
    for day in stride(from: -100_000 as Int64, to: 100_000, by: 97) {
      let text = "\(WallTime(millisecondsSince1970: day * 86_400_000 + 3_723_000))"
      let date = Date(timeIntervalSince1970: Double(day * 86_400 + 3723))
      #expect(text == formatter.string(from: date).replacing("Z", with: ".000Z"))
    }
  }

  @Test func expiries() {
    #expect("\(Expiry.never)" == "never")
    #expect("\(Expiry.after(.milliseconds(1500)))" == "after 1.5 seconds")
    #expect("\(Expiry.at(WallTime(millisecondsSince1970: 0)))" == "at 1970-01-01T00:00:00.000Z")
  }

  @Test func optionsSayWhatTheyAre() {
    var options = Options()
    options.durability = .periodic(.seconds(2))
    options.compression = .lz4(level: 9)
    options.capacity = 100_000_000
    options.segmentSize = 1 << 20
    options.merge.isAutomatic = false
    options.readOnly = true
    let text = "\(options)"
    for part in [
      "durability periodic, every 2.0 seconds", "compression LZ4 level 9", "capacity 100 MB", "segments of 1.05 MB",
      "no automatic merges", "read-only",
    ] {
      #expect(text.contains(part), "\(text)")
    }
    #expect(!text.contains("\n") && !text.contains("Optional"))
  }

  @Test func statisticsAreAFewAlignedLines() {
    var statistics = Statistics()
    statistics.keys = 1204
    statistics.keyspaces = ["": .init(), "cities": .init()]
    statistics.bytesOnDisk = 64_100_000
    statistics.liveBytes = 12_000
    statistics.deadBytes = 900
    statistics.indexBytes = 1_500_000
    statistics.indexLoad = 0.537
    statistics.lastSequence = SequenceNumber(rawValue: 1300)
    statistics.durableSequence = SequenceNumber(rawValue: 1290)
    statistics.recordsWritten = 1
    statistics.bytesLogged = 152
    statistics.bytesWritten = 4096
    let quiet = """
      keys     1,204 in 2 keyspaces
      disk     64.1 MB in 0 segments: 12.0 kB live, 900 bytes dead
      index    1.50 MB of memory, 54 % full
      history  last write #1300, durable up to #1290
      written  1 record of 152 bytes logged, 4.10 kB to disk
      """
    #expect("\(statistics)" == quiet)
    statistics.merges = 2
    statistics.merged.segmentsRemoved = 3
    statistics.merged.segmentsWritten = 1
    statistics.merged.bytesRead = 5_000_000
    statistics.merged.recordsEvicted = 7
    statistics.gets.record(.nanoseconds(640))
    statistics.gets.record(.milliseconds(12))
    #expect(
      "\(statistics)" == quiet + """

        merges   2: 3 segments into 1, 5.00 MB freed, 7 records evicted
        gets     2 timed: median 768 ns, p99 12.0 ms, longest 12.0 ms
        """
    )
  }

  @Test func aSegmentIsOneLine() {
    let segment = Statistics.SegmentFigures(
      id: 3,
      path: "/a",
      isMerged: true,
      isSealed: true,
      recordBytes: 9,
      liveBytes: 12_100_000,
      fileBytes: 64_000_000,
      sequences: nil,
      isPacked: true,
      unpackedBytes: 130_000_000
    )
    #expect("\(segment)" == "segment 3: 64.0 MB, 12.1 MB live, merged, packed from 130 MB")
  }

  @Test(arguments: [
    (0, "0 bytes"), (1, "1 byte"), (999, "999 bytes"), (1000, "1.00 kB"), (9996, "10.0 kB"), (999_499, "999 kB"),
    (999_500, "1.00 MB"), (Int.max, "9.22 EB"), (Int.min, "-9.22 EB"), (-5, "-5 bytes"),
  ])
  func bytesHaveThreeDigits(count: Int, text: String) {
    #expect(NumberText.bytes(count) == text)
  }

  @Test(arguments: [
    (0 as Int64, "0 ns"), (999, "999 ns"), (1_250, "1.25 µs"), (999_600, "1.00 ms"), (12_000_000_000, "12.0 s"),
    (7_200_000_000_000, "7200 s"),
  ])
  func timesHaveThreeDigits(nanoseconds: Int64, text: String) {
    #expect(NumberText.time(.nanoseconds(nanoseconds)) == text)
  }
}
