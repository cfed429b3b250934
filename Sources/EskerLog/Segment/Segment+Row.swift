internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

extension Segment {
  /// Takes over what the manifest says of a segment that is sealed.
  func become(_ row: SegmentRow) {
    if row.firstSequence != 0 { firstSequence.store(row.firstSequence, ordering: .relaxed) }
    lastSequence.store(row.lastSequence, ordering: .relaxed)
    recordsEnd.store(Int(clamping: row.recordsEnd), ordering: .releasing)
    footer.withLock { footer in
      footer.offset = Int(clamping: row.footerOffset)
      footer.length = Int(clamping: row.footerLength)
      footer.minExpiry = row.minExpiry
      footer.maxExpiry = row.maxExpiry
      footer.neverExpiring = row.neverExpiring
    }
    isSealed.store(true, ordering: .releasing)
    isSettled.store(true, ordering: .releasing)
  }

  /// What the manifest says of the segment now.
  func row() -> SegmentRow {
    var row = SegmentRow(
      id: id,
      salt: salt,
      kind: kind,
      state: .active,
      granule: UInt32(granule),
      granules: UInt32(granuleCount)
    )
    row.dictionaryLength = layout.dictionaryLength
    row.firstSequence = firstSequence.load(ordering: .relaxed)
    guard isSettled.load(ordering: .acquiring) else {
      // Where the tail of a closed store ends; an opening after a crash looks for itself.
      row.lastSequence = lastSequence.load(ordering: .relaxed)
      row.recordsEnd = UInt64(recordsEnd.load(ordering: .relaxed))
      // A close gives back what has not been used.
      let length = durableLength.load(ordering: .relaxed)
      row.fileLength = UInt64(row.recordsEnd == 0 ? length : min(length, usedLength))
      return row
    }
    row.state = .sealed
    row.lastSequence = lastSequence.load(ordering: .relaxed)
    row.recordsEnd = UInt64(recordsEnd.load(ordering: .relaxed))
    let footer = footer.withLock { $0 }
    row.footerOffset = UInt64(footer.offset)
    row.footerLength = UInt64(footer.length)
    row.minExpiry = footer.minExpiry
    row.maxExpiry = footer.maxExpiry
    row.neverExpiring = footer.neverExpiring
    row.fileLength = row.footerOffset == 0 ? row.recordsEnd : row.footerOffset + row.footerLength
    return row
  }
}
