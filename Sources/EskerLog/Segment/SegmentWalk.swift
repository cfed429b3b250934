internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

/// Iterates over the records of a sealed segment: by its footer, without reading the records, or else by their headers.
struct SegmentWalk {
  private let segment: Segment
  private let end: Int
  private var records: RecordCursor
  private var listed: FooterCursor?
  private let footer: [UInt8]
  private let seed: HashSeed
  /// The position in a packed segment.
  private var packed: PackedWalk?

  /// - Parameters:
  ///   - end: the offset to stop at; nil to stop after the last record of a sealed segment. No other says where that is.
  ///   - damage: gets the damage to the footer, if any.
  init(_ segment: Segment, _ seed: HashSeed, to end: Int? = nil, damage: inout [StoreEvent]) {
    assert(end != nil || segment.isSealed, "a segment that takes records does not say where they end")
    self.segment = segment
    let read = segment.readFooter(damage: &damage)
    self.end = end ?? read.map { Int($0.footer.recordsEnd) } ?? segment.recordsEnd ?? 0
    records = RecordCursor(segment, to: self.end)
    listed = read?.footer.entries(segment.layout)
    footer = read?.bytes ?? []
    self.seed = seed
    packed = packedView.map { PackedWalk($0) }
  }

  /// The next record; nil after the last.
  ///
  /// - Throws: the damage, if headers are read and one is damaged, or the footer is inconsistent.
  mutating func next() throws(StoreError) -> FooterEntry? {
    if listed != nil {
      do throws(FormatError) { return try nextListed() } catch {
        throw StoreError(error, in: segment.path, base: end, what: "the segment's footer")
      }
    }
    if packed != nil {
      switch nextPacked() {
      case .record(let record): return entry(record)
      case .damaged(let range):
        throw segment.damage(range.lowerBound, RecordDamage.headerChecksum.reason)
      case nil:
        guard segment.readableEnd >= end else {
          throw segment.damage(segment.readableEnd, "the segment is truncated")
        }
        return nil
      }
    }
    guard records.offset < end else { return nil }
    guard let (offset, header) = records.next() else {
      // Only fillers were left.
      if records.offset >= end { return nil }
      throw segment.damage(records.offset, RecordDamage.headerChecksum.reason)
    }
    guard header.kind != .seal else { throw segment.damage(offset, Self.sealAmidRecords) }
    return entry(header, at: offset)
  }

  /// A writer leaves nothing behind a seal but a footer.
  static let sealAmidRecords = "a seal stands in front of records"

  /// The next record with a readable header; reports damage in between.
  mutating func nextReadable(reporting damage: inout [StoreEvent]) -> FooterEntry? {
    // The footer's checksum was right, so an entry that makes no sense is where it ends.
    if listed != nil { return try? nextListed() }
    while let step = nextPacked() {
      switch step {
      case .record(let record):
        if let found = packedView?.damage(of: record) {
          note(found.reason, LostRecords(record.sequence), at: record.offset, in: &damage)
        }
        return entry(record)
      case .damaged(let range):
        note(RecordDamage.headerChecksum.reason, segment.lostRecords(in: range), at: range.lowerBound, in: &damage)
      }
    }
    guard packed == nil else { return nil }
    while records.offset < end {
      if let (offset, header) = records.next() {
        if header.kind == .seal {
          damage.append(.damaged(segment.location(offset), reason: Self.sealAmidRecords))
          continue
        }
        if segment.view(at: offset, end: end)?.bodyIsIntact != true {
          note(
            RecordDamage.bodyChecksum.reason,
            LostRecords(header.sequence),
            at: offset,
            in: &damage
          )
        }
        return entry(header, at: offset)
      }
      if records.offset >= end { break }
      let range = records.seek()
      note(RecordDamage.headerChecksum.reason, segment.lostRecords(in: range), at: range.lowerBound, in: &damage)
    }
    return nil
  }

  private func note(_ reason: String, _ lost: LostRecords?, at offset: Int, in damage: inout [StoreEvent]) {
    let text = lost.map { ": \($0.text)" } ?? ""
    damage.append(.damaged(segment.location(offset), reason: reason + text))
  }

  /// The footer's next entry. Stops at `end`: the footer may list records written after the caller determined the end.
  private mutating func nextListed() throws(FormatError) -> FooterEntry? {
    let footer = ContiguousArray(footer)
    // Safety: the span is used only during the call, and the array is kept.
    while let entry = unsafe try listed?.next(in: footer.span.bytes), entry.offset < UInt64(end) {
      if entry.kind != .filler { return entry }
    }
    return nil
  }

  private var packedView: PackedSegmentView? { segment.packedView(end: min(end, segment.readableEnd)) }

  private mutating func nextPacked() -> PackedWalk.Step? {
    guard let view = packedView else { return nil }
    return packed?.next(in: view)
  }

  private func entry(_ record: PackedEntry) -> FooterEntry {
    FooterEntry(
      offset: UInt64(record.offset),
      size: UInt64(record.size),
      keyHash: record.keyHash(seed),
      sequence: record.sequence,
      keyspace: record.keyspace,
      kind: record.kind,
      expires: record.expiry != .max
    )
  }

  private func entry(_ header: RecordHeader, at offset: Int) -> FooterEntry {
    FooterEntry(
      offset: UInt64(offset),
      size: UInt64(header.size),
      keyHash: header.keyHash,
      sequence: header.sequence,
      keyspace: header.keyspace,
      kind: header.kind,
      expires: header.expires
    )
  }
}
