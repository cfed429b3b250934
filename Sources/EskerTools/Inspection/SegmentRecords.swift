internal import EskerFormat
public import EskerLog

/// The records of a segment in the order of their offsets, and the bytes between them that contain none.
///
/// Each record is read and verified when it is requested, so only one is in memory at a time. If the segment is being
/// written, the sequence includes what has been written by the time it is read.
public struct SegmentRecords: Sequence, IteratorProtocol {
  /// A record, or bytes without one.
  public enum Element: Sendable, Hashable {
    /// A record whose header can be read.
    case record(RecordDescription)
    /// Bytes in which no record can be recognised.
    case unreadable(Range<Int>)
  }

  private let inspection: StoreInspection
  private let file: SegmentFile
  private var offset = SegmentHeader.length
  private var walk: PackedWalk?
  /// Whether it was reported that the file ends before its records.
  private var isEndTold = false
  private var names: [UInt32: String?] = [:]

  init(_ file: SegmentFile, _ inspection: StoreInspection) {
    self.file = file
    self.inspection = inspection
    walk = file.packedView.map { PackedWalk($0) }
  }

  /// The next record or unreadable range; nil at the end. O(bytes of it).
  public mutating func next() -> Element? {
    if let view = file.packedView {
      if let element = nextPacked(view) { return element }
      return missingEnd()
    }
    while case .record(let header) = file.readRecord(at: offset), header.kind == .filler { offset += header.size }
    guard offset < file.end else { return offset == .max ? nil : missingEnd() }
    switch file.readRecord(at: offset) {
    case .record(let header):
      let place = offset
      // No record of the log follows a seal.
      offset = header.kind == .seal ? .max : offset + header.size
      return .record(RecordDescription(header, at: place, in: file, name(header.keyspace.id)))
    case .end, .damaged:
      return nextUnreadable()
    }
  }

  /// The range of records that is missing at the end of the file.
  private mutating func missingEnd() -> Element? {
    guard !isEndTold, let declared = file.declaredEnd, declared > file.end else { return nil }
    isEndTold = true
    return .unreadable(file.end..<declared)
  }

  private mutating func nextPacked(_ view: PackedSegmentView) -> Element? {
    switch walk?.next(in: view) {
    case .record(let entry): .record(RecordDescription(entry, in: file, view, name(entry.keyspace.id)))
    case .damaged(let range): .unreadable(range)
    case nil: nil
    }
  }

  private mutating func nextUnreadable() -> Element? {
    let start = offset
    let next = file.nextRecord(after: start)
    if file.declaredEnd == nil, case .end = file.readRecord(at: start), next == nil {
      offset = .max
      return nil
    }
    // The writer appends in order: if it has written after this place meanwhile, it has also written here.
    if case .record = file.readRecord(at: start) { return self.next() }
    offset = next ?? file.end
    return .unreadable(start..<offset)
  }

  private mutating func name(_ id: UInt32) -> String? {
    if let known = names[id] { return known }
    let name = inspection.keyspaceName(id)
    names[id] = .some(name)
    return name
  }
}

extension StoreInspection {
  /// The records of a segment.
  ///
  /// - Throws: `StoreError.damaged(_:reason:)` if the store has no such segment, its file is missing, or nothing in it
  ///   can be recognised; `StoreError.failed(operation:path:errno:)`.
  public func records(of segment: UInt64) throws(StoreError) -> SegmentRecords {
    SegmentRecords(try open(segment), self)
  }
}
