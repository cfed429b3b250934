import Esker
import Foundation
import Testing

@testable import esker_tool

@Suite struct FormattingTests {
  @Test(arguments: [
    ("500ms", 500), ("60s", 60_000), ("5m", 300_000), ("2h", 7_200_000), ("7d", 604_800_000), ("1ms", 1),
  ])
  func timeToLive(text: String, milliseconds: Int) {
    #expect(TimeToLive(argument: text)?.duration == .milliseconds(milliseconds))
  }

  @Test(arguments: ["", "5", "s", "0s", "-1s", "+1s", "1 s", "1S", "1w", "1.5h", "٣s", "9223372036854775807d", "1ss"])
  func malformedTimeToLive(text: String) {
    #expect(TimeToLive(argument: text) == nil)
  }

  @Test(arguments: [
    (0, "0 B"), (999, "999 B"), (1000, "1.00 kB"), (9994, "9.99 kB"), (9996, "10.0 kB"), (99_960, "100 kB"),
    (999_499, "999 kB"), (999_500, "1.00 MB"), (12_345_678, "12.3 MB"), (1 << 30, "1.07 GB"), (Int.max, "9.22 EB"),
  ])
  func bytes(count: Int, text: String) {
    #expect(HumanUnits.bytes(count) == text)
  }

  @Test func counts() {
    #expect(
      [0, 12, 123, 1234, 123_456, 1_234_567].map(NumberText.count) == [
        "0", "12", "123", "1,234", "123,456", "1,234,567",
      ]
    )
    #expect(NumberText.count(-1234) == "-1,234")
    #expect(NumberText.count(1, "file") == "1 file")
    #expect(NumberText.count(2000, "file") == "2,000 files")
  }

  @Test func decimals() {
    #expect(NumberText.fixed(0, 2) == "0.00")
    #expect(NumberText.fixed(1.005, 1) == "1.0")
    #expect(NumberText.fixed(-0.05, 2) == "-0.05")
    #expect(NumberText.fixed(12.5, 0) == "13")
    #expect(NumberText.fixed(.infinity, 2) == "inf")
  }

  @Test(arguments: [(0.0004, "0 ms"), (0.85, "850 ms"), (59.4, "59 s"), (200, "3 min 20 s"), (7500, "2 h 5 min")])
  func durations(seconds: Double, text: String) {
    #expect(HumanUnits.duration(seconds: seconds) == text)
  }

  @Test func exitCodesAreThoseDocumented() {
    let location = StoreError.Location(path: "s")
    let expected: [(StoreError, Int32)] = [
      (.damaged(location, reason: "bad"), 1), (.keyTooLong(1), 64), (.valueTooLong(1), 64), (.batchTooLarge(1), 64),
      (.invalidKeyspace("k"), 64), (.noSuchKeyspace("k"), 64), (.notAStore(path: "s"), 66),
      (.unknownFormat(path: "s", version: 9), 66),
      (.historyGone(since: SequenceNumber(rawValue: 1), oldest: SequenceNumber(rawValue: 2)), 1),
      (.conflict(keyspace: "", key: [1]), 1), (.otherStore(path: "s"), 66), (.directoryNotEmpty(path: "s"), 74),
      (.noSpace(path: "s", needed: 1), 74), (.failed(operation: "open", path: "s", errno: 5), 74),
      (.syncFailed(errno: 5), 74), (.outcomeUnknown(errno: 5), 74),
      (.capacityReached(path: "s", capacity: 2, needed: 1), 74),
      (.unfinishedCopy(path: "s", mark: "backup.unfinished", holder: 0), 66),
      (.closed, 74), (.readOnly, 74), (.cancelled, 74), (.locked(path: "s", holder: 1), 75),
    ]
    for (error, code) in expected { #expect(ExitStatus.code(for: error) == code) }
  }
}
