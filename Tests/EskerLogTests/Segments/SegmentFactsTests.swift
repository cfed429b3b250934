import EskerFormat
import Testing

@testable import EskerLog

/// What is known of a segment changes by a few steps, and in no other order.
@Suite struct SegmentFactsTests {
  private static let end = SegmentHeader.length + 64

  private func row(last: UInt64, end: Int) -> SegmentRow {
    var row = SegmentRow(id: 1, salt: 0, kind: .log, state: .sealed, granule: 1, granules: 1)
    row.firstSequence = 3
    row.lastSequence = last
    row.recordsEnd = UInt64(end)
    row.footerOffset = UInt64(end) + 32
    row.footerLength = 100
    return row
  }

  @Test func aSegmentIsSealedAndThenSettled() {
    var facts = SegmentFacts()
    facts.begin(with: 3)
    #expect(facts.state == .open && facts.recordsEnd == nil && !facts.isSealed && !facts.isSettled)
    facts.seal(at: Self.end, last: 9)
    #expect(facts.state == .sealed(end: Self.end) && facts.lastSequence == 9 && !facts.isSettled)
    facts.settle(with: FooterSummary(offset: Self.end + 32, length: 100))
    #expect(facts.isSealed && facts.isSettled && facts.footer.length == 100)
  }

  @Test func aClosedTailGoesOn() {
    var facts = SegmentFacts()
    facts.begin(with: 3)
    facts.close(at: Self.end, last: 9)
    #expect(facts.state == .closed(end: Self.end) && facts.recordsEnd == Self.end && !facts.isSealed)
    facts.reopen()
    #expect(facts.state == .open && facts.recordsEnd == nil && facts.lastSequence == 9 && facts.firstSequence == 3)
  }

  @Test func aManifestSettlesAnOpenSegment() {
    var facts = SegmentFacts()
    facts.settle(as: row(last: 9, end: Self.end))
    #expect(facts.isSettled && facts.firstSequence == 3 && facts.recordsEnd == Self.end)
    #expect(facts.footer.offset == Self.end + 32)
  }

  @Test func aCutTakesTheFooterAway() {
    var facts = SegmentFacts()
    facts.settle(as: row(last: 9, end: Self.end))
    facts.settle(cutAt: Self.end - 32, last: 8)
    #expect(facts.isSettled && facts.recordsEnd == Self.end - 32 && facts.lastSequence == 8 && facts.footer == .none)
  }

  /// A release build does not look.
  #if DEBUG
    @Test func aSettledSegmentIsNotSealedAgain() async {
      await #expect(processExitsWith: .failure) {
        var facts = SegmentFacts()
        facts.settle(cutAt: SegmentHeader.length, last: 0)
        facts.seal(at: SegmentHeader.length, last: 0)
      }
    }

    @Test func aSettledSegmentIsNotReopened() async {
      await #expect(processExitsWith: .failure) {
        var facts = SegmentFacts()
        facts.settle(cutAt: SegmentHeader.length, last: 0)
        facts.reopen()
      }
    }

    @Test func anOpenSegmentIsNotSettledWithAFooter() async {
      await #expect(processExitsWith: .failure) {
        var facts = SegmentFacts()
        facts.settle(with: .none)
      }
    }

    @Test func aSealedSegmentIsNotClosed() async {
      await #expect(processExitsWith: .failure) {
        var facts = SegmentFacts()
        facts.seal(at: SegmentHeader.length, last: 0)
        facts.close(at: SegmentHeader.length, last: 0)
      }
    }

    @Test func aCutMovesNoEndOutwards() async {
      await #expect(processExitsWith: .failure) {
        var facts = SegmentFacts()
        facts.settle(cutAt: SegmentHeader.length, last: 0)
        facts.settle(cutAt: SegmentHeader.length + 8, last: 0)
      }
    }
  #endif
}
