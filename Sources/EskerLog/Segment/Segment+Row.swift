internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

extension Segment {
  /// The rows of segments for the manifest. They agree on which segments have begun, although the log may go on meanwhile.
  ///
  /// None may be called empty that comes in the log before one with a first number: what it holds could be cut off, or what follows
  /// it could be kept without it. Only that cannot be put right by reading the log; that a segment has become full meanwhile can.
  ///
  /// - Parameter look: Called after the first look at each. For tests.
  /// - Complexity: O(segments).
  static func rows(of list: [Segment], afterEach look: (Segment) -> Void = { _ in }) -> [SegmentRow] {
    var rows = list.map { segment in
      defer { look(segment) }
      return segment.row
    }
    // By now, whatever comes before a segment that had begun has begun too. What begins from here on is left to the next manifest.
    let newest = rows.reduce(0) { max($0, $1.firstSequence) }
    for (position, segment) in list.enumerated() where rows[position].firstSequence == 0 {
      let now = segment.row
      if now.firstSequence <= newest { rows[position] = now }
    }
    return rows
  }

  /// Those in a range in which none can be recognised, of a segment that a merge wrote and whose footer cannot be read.
  func lostRecords(in range: Range<Int>) -> LostRecords? { LostRecords(in: range, layout, of: row.numbers) }

  /// The segment's current row for the manifest. Rows of several segments, read one by one, are of different moments.
  private var row: SegmentRow {
    var row = SegmentRow(
      id: id,
      salt: salt,
      kind: kind,
      state: .active,
      granule: UInt32(granule),
      granules: UInt32(granuleCount)
    )
    row.dictionaryLength = layout.dictionaryLength
    let facts = facts
    row.firstSequence = facts.firstSequence
    row.lastSequence = facts.lastSequence
    row.recordsEnd = UInt64(facts.recordsEnd ?? 0)
    guard facts.isSettled else {
      // With an end, it is the tail of a closed store, and a close releases unused space. After a crash, the opening finds the end.
      let length = durableLength.load(ordering: .relaxed)
      row.fileLength = UInt64(facts.recordsEnd == nil ? length : min(length, usedLength))
      return row
    }
    row.state = .sealed
    row.mergedThrough = facts.mergedThrough
    let footer = facts.footer
    row.footerOffset = UInt64(footer.offset)
    row.footerLength = UInt64(footer.length)
    row.minExpiry = footer.minExpiry
    row.maxExpiry = footer.maxExpiry
    row.neverExpiring = footer.neverExpiring
    row.fileLength = row.footerOffset == 0 ? row.recordsEnd : row.footerOffset + row.footerLength
    return row
  }
}
