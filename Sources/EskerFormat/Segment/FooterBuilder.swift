/// Builds the footer of a segment, record by record.
public struct FooterBuilder: Sendable {
  /// The entries after the first one.
  private var rest = EntryStream()
  /// Kept apart: it is stored as its difference from the lowest sequence number, which may turn out to be the last record's.
  private var first: FooterEntry?
  private var previous: UInt64 = 0
  private let isPacked: Bool
  private var footer: SegmentFooter

  /// Creates a builder for an empty segment, with memory for `expectedEntries` ordinary entries.
  public init(segmentID: UInt64, salt: UInt32, layout: SegmentLayout = .plain, expectedEntries: Int = 0) {
    rest.reserve(expectedEntries)
    footer = SegmentFooter(segmentID: segmentID, salt: salt)
    footer.recordsEnd = UInt64(layout.recordsStart)
    isPacked = layout.isPacked
  }

  /// Adds the next record, or filler, in offset order; a seal has no entry.
  ///
  /// - Complexity: O(1) amortised.
  public mutating func append(_ record: RecordHeader) {
    append(record, offset: footer.recordsEnd, size: UInt64(record.size))
  }

  /// Adds the next record, which lies in the segment as `offset` and `size` say.
  mutating func append(_ record: RecordHeader, offset: UInt64, size: UInt64) {
    precondition(record.kind != .seal)
    let entry = FooterEntry(
      offset: offset,
      size: size,
      keyHash: record.keyHash,
      sequence: record.sequence,
      keyspace: record.keyspace,
      kind: record.kind,
      expires: record.expires
    )
    if first == nil {
      first = entry
      footer.firstSequence = entry.sequence
      footer.lastSequence = entry.sequence
    } else {
      rest.append(entry, after: previous, isPacked: isPacked)
      footer.firstSequence = min(footer.firstSequence, entry.sequence)
      footer.lastSequence = max(footer.lastSequence, entry.sequence)
    }
    previous = entry.sequence
    footer.entryCount += 1
    footer.recordsEnd = entry.end(isPacked: isPacked)
    if entry.expires {
      footer.minExpiry = min(footer.minExpiry, record.expiry)
      footer.maxExpiry = max(footer.maxExpiry, record.expiry)
    } else {
      footer.neverExpiring += 1
    }
  }

  private var head: EntryStream {
    var head = EntryStream()
    if let first { head.append(first, after: footer.firstSequence, isPacked: isPacked) }
    return head
  }

  /// The trailer for the records so far.
  public var summary: SegmentFooter {
    var summary = footer
    summary.streamLength = UInt64(head.count + rest.count)
    return summary
  }

  /// The length in bytes of the footer for the records so far.
  public var length: Int { summary.length }

  /// The encoded footer: entries, padding and trailer.
  ///
  /// - Complexity: O(n).
  public func encoded() -> [UInt8] {
    let summary = summary
    var bytes: [UInt8] = []
    bytes.reserveCapacity(summary.length)
    bytes += head.bytes
    bytes += rest.bytes
    let checksum = bytes.checksum(of: 0..<bytes.count)
    bytes.pad8()
    bytes += summary.encodedTrailer(streamChecksum: checksum)
    return bytes
  }
}
