import Testing

@testable import EskerLog

@Suite struct MergePolicyTests {
  private let policy = MergePolicy(spaceAmplification: 1.5, segmentSize: 1000)

  private func segment(
    _ id: UInt64,
    live: Int,
    of bytes: Int = 1000,
    age: UInt64 = 100,
    lastExpiry: Int64 = .max
  ) -> MergeCandidate {
    MergeCandidate(id: id, bytes: bytes, liveBytes: live, age: age, lastExpiry: lastExpiry, created: 0)
  }

  private func victims(_ candidates: [MergeCandidate], now: Int64 = 0) -> [UInt64] {
    policy.victims(among: candidates, unsealed: (0, 0), now: now)
  }

  @Test func nothingIsMergedAsLongAsTheStoreKeepsItsLimit() {
    #expect(victims([]) == [])
    #expect(victims([segment(1, live: 900), segment(2, live: 700)]) == [])
    // Small waste of a small store.
    #expect(victims([segment(1, live: 400)]) == [])
  }

  @Test func deadSegmentsGoAtOnceAndTogether() {
    #expect(victims([segment(1, live: 0), segment(2, live: 900), segment(3, live: 0)]) == [1, 3])
  }

  @Test func theEmptierOfTwoIsMergedFirst() {
    let many = (3..<8).map { segment($0, live: 990) }
    #expect(victims([segment(1, live: 500), segment(2, live: 100)] + many) == [])
    #expect(policy.victims(among: [segment(1, live: 500), segment(2, live: 100)], unsealed: (800, 0), now: 0) == [2])
  }

  @Test func theOlderOfTwoIsMergedFirst() {
    let candidates = [segment(1, live: 300, age: 10), segment(2, live: 400, age: 1000)]
    #expect(policy.victims(among: candidates, unsealed: (1200, 0), now: 0).first == 2)
  }

  @Test func noMoreIsMergedThanFillsASegment() {
    let candidates = (1...10).map { segment($0, live: 400) }
    #expect(policy.victims(among: candidates, unsealed: (9000, 0), now: 0).count == 2)
  }

  /// With less than half of the dead bytes that are allowed on average, a sixth here.
  @Test func whatIsNearlyAllAliveIsNotMerged() {
    #expect(policy.victims(among: [segment(1, live: 840)], unsealed: (9000, 0), now: 0) == [])
    #expect(policy.victims(among: [segment(1, live: 830)], unsealed: (9000, 0), now: 0) == [1])
  }

  /// A merge for less than an eighth of a segment takes more than it gives.
  @Test func whatFreesLittleIsNotMerged() {
    let little = [segment(1, live: 10, of: 70), segment(2, live: 10, of: 70)]
    #expect(policy.victims(among: little, unsealed: (9000, 0), now: 0) == [])
    #expect(policy.victims(among: little + [segment(3, live: 30, of: 40)], unsealed: (9000, 0), now: 0).count == 3)
  }

  @Test func aSegmentThatWillSoonBeDeadIsWaitedFor() {
    let candidates = [segment(1, live: 500, lastExpiry: 1500), segment(2, live: 600)]
    #expect(policy.victims(among: candidates, unsealed: (9000, 0), now: 1000) == [2])
    #expect(Set(policy.victims(among: candidates, unsealed: (9000, 0), now: 100)) == [1])
  }

  @Test func manySmallSegmentsBecomeOne() {
    let candidates = (1...9).map { segment($0, live: 50, of: 50, age: 100 - $0) }
    #expect(victims(candidates) == Array(1...9))
    #expect(victims(Array(candidates.dropLast(2))) == [])
  }

  @Test func debtBeginsASegmentBeyondTheLimit() {
    #expect(policy.debt(bytes: 1500 + 1000 + 1000, live: 1000) == 0)
    #expect(policy.debt(bytes: 1500 + 1000 + 2000, live: 1000) == 1)
  }

  @Test func figuresAtTheirLimitsDoNotTrap() {
    let odd = MergeCandidate(id: 1, bytes: 0, liveBytes: 0, age: .max, lastExpiry: .min, created: .max)
    #expect(victims([odd], now: .max) == [1])
    #expect(
      !MergeCandidate(id: 1, bytes: 9, liveBytes: 9, age: 0, lastExpiry: .max - 1, created: .max).isDying(at: .min)
    )
  }

  @Test func recordsWithAboutTheSameTimeLeftAreOneGroup() {
    #expect(MergeWriter.group(expiry: .max, now: 5) == 0)
    #expect(MergeWriter.group(expiry: 1_000_100, now: 100) == MergeWriter.group(expiry: 600_100, now: 100))
    #expect(MergeWriter.group(expiry: 1_000_100, now: 100) != MergeWriter.group(expiry: 60_100, now: 100))
    #expect(MergeWriter.group(expiry: .min, now: .max) == 1)
    #expect(MergeWriter.group(expiry: .max - 1, now: .min) == 32)
  }
}
