package import EskerFormat
internal import EskerPlatform
internal import Synchronization

extension Segment {
  /// The footer of a sealed and durable segment, which can then be replayed from it; nil for other segments.
  func durableFooter(
    durable: UInt64,
    damage: inout [StoreEvent]
  ) -> (footer: SegmentFooter, bytes: [UInt8])? {
    let facts = facts
    guard facts.isSettled, facts.lastSequence <= durable else { return nil }
    return readFooter(damage: &damage)
  }

  /// Reads a sealed segment's footer; nil if there is none, or it is damaged or cannot be read.
  ///
  /// - Parameter failure: called if the footer cannot be read now, which does not mean that it is damaged.
  func readFooter(
    damage: inout [StoreEvent],
    failure: (PlatformError) -> Void = { _ in }
  ) -> (footer: SegmentFooter, bytes: [UInt8])? {
    let summary = facts.footer
    guard summary.offset > 0, summary.length > 0, summary.length <= 1 << 31 else { return nil }
    var bytes: [UInt8] = []
    do throws(PlatformError) { bytes = try self.bytes(in: summary.offset..<summary.offset + summary.length) } catch {
      if error.isOutOfDescriptors || error.isDenied { failure(error) }
      // A merge removed the file of a segment that is still in use: only its mapped records are left.
      if error.isGone || error.isOutOfDescriptors || error.isDenied { return nil }
    }
    let lent = ContiguousArray(bytes)
    do throws(FormatError) {
      // Safety: the span is used only during the call, and the array is kept.
      let footer = unsafe try SegmentFooter(decoding: lent.span.bytes)
      // In a read-only store, the last segment's end stays unset, because the log may continue there.
      let end = recordsEnd
      guard footer.segmentID == id, footer.salt == salt, end == nil || footer.recordsEnd == end.map(UInt64.init),
        footer.recordsEnd <= UInt64(granuleCount) * SegmentRow.granuleSize
      else { throw .damaged(reason: "it belongs to another segment", offset: 0) }
      return (footer, bytes)
    } catch {
      let error = StoreError(error, in: path, base: summary.offset, what: "the segment's footer")
      if case .damaged(let location, let reason) = error {
        damage.append(.damaged(location, reason: "\(reason); the records are read instead"))
      }
      return nil
    }
  }

  /// The bytes in use, and the page of the word after them, where a reader in another process checks whether the log continues.
  var usedLength: Int {
    let facts = facts
    let used = max(facts.footer.offset + facts.footer.length, (facts.recordsEnd ?? 0) + Self.tailReserve)
    return (used + 4095) & ~4095
  }

  /// The length in bytes of records and footer.
  var fileLength: Int {
    let facts = facts
    return max(facts.recordsEnd ?? 0, facts.footer.offset + facts.footer.length)
  }
}

/// The records that a footer lists, in the order of their places: what is missing in the parts of its segment that cannot be read.
///
/// Safety: the array outlives the calls of the cursor, which checks what it reads.
package struct ListedRecords {
  private var cursor: FooterCursor
  private let bytes: ContiguousArray<UInt8>
  private var next: FooterEntry?

  package init(_ footer: SegmentFooter, _ bytes: [UInt8], _ layout: SegmentLayout) {
    cursor = footer.entries(layout)
    self.bytes = ContiguousArray(bytes)
    advance()
  }

  private mutating func advance() {
    let bytes = bytes
    next = unsafe try? cursor.next(in: bytes.span.bytes)
  }

  /// Those in a range, which begins behind all that were asked for before; nil if there are none.
  ///
  /// - Complexity: O(records up to there), in all calls together.
  package mutating func lost(in range: Range<Int>) -> LostRecords? {
    var (lowest, highest, count) = (UInt64.max, UInt64(0), 0)
    while let entry = next, entry.offset < UInt64(range.upperBound) {
      if entry.kind != .filler, entry.offset >= UInt64(range.lowerBound) {
        lowest = min(lowest, entry.sequence)
        highest = max(highest, entry.sequence)
        count += 1
      }
      advance()
    }
    return count > 0 ? LostRecords(lowest...highest, count: count, isExact: true) : nil
  }
}
