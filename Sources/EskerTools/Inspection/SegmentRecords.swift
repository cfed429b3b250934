internal import EskerFormat
public import EskerLog

/// The records of a segment in the order of their places, and the bytes between them that are none.
///
/// A record is read, and checked against its checksums, when it is asked for: memory for one of them. Of a segment that is
/// being written, what has been written by then is shown.
public struct SegmentRecords: Sequence, IteratorProtocol {
  /// What stands at a place.
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
  /// Whether it was told that the file ends before its records.
  private var isEndTold = false
  private var names: [UInt32: String?] = [:]

  init(_ file: SegmentFile, _ inspection: StoreInspection) {
    self.file = file
    self.inspection = inspection
    walk = file.packedView.map { PackedWalk($0) }
  }

  /// What stands at the next place; nil at the end. O(bytes that it takes).
  public mutating func next() -> Element? {
    if let view = file.packedView {
      if let element = nextPacked(view) { return element }
      return missingEnd()
    }
    guard offset < file.end else { return offset == .max ? nil : missingEnd() }
    switch file.readRecord(at: offset) {
    case .record(let header):
      let place = offset
      // Nothing of the log comes after a seal.
      offset = header.kind == .seal ? .max : offset + header.size
      return .record(RecordDescription(header, at: place, in: file, name(header.keyspace.id)))
    case .end, .damaged:
      return nextUnreadable()
    }
  }

  /// What the file lacks of what is known of it.
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
    // The writer goes on in order: what it has written behind this place by now, it has written here too.
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
  /// - Throws: `StoreError.damaged(_:reason:)` when the store has no such segment, its file is missing, or nothing in it can
  ///   be recognised; `StoreError.failed(operation:path:errno:)`.
  public func records(of segment: UInt64) throws(StoreError) -> SegmentRecords {
    SegmentRecords(try open(segment), self)
  }
}
