internal import EskerFormat

/// Iterates over the records of a segment that is not packed, up to where the caller says that they end.
///
/// That is a claim: the file may be shorter, and any of its bytes may be damaged. The cursor never goes beyond either end, and
/// never backwards. It checks the headers; the caller checks what is in a record. A seal is a record of its kind; fillers are
/// passed over, but for marks where they are asked for.
struct RecordCursor {
  let segment: Segment
  let end: Int
  /// Where the next record is looked for.
  private(set) var offset: Int
  private let stopsAtMarks: Bool

  init(_ segment: Segment, from offset: Int = SegmentHeader.length, to end: Int, stopsAtMarks: Bool = false) {
    self.segment = segment
    self.end = end
    self.offset = offset
    self.stopsAtMarks = stopsAtMarks
  }

  /// What stands here. The cursor stays, or moves past fillers.
  @inline(__always)
  mutating func peek() -> RecordRead {
    while true {
      let read = segment.readRecord(at: offset, end: end)
      guard case .record(let header) = read, header.kind == .filler, !(stopsAtMarks && header.isMark) else {
        return read
      }
      offset += header.size
    }
  }

  /// The record that stands here, which the cursor passes; nil where none can be read, and there it stays.
  @inline(__always)
  mutating func next() -> (offset: Int, header: RecordHeader)? {
    guard case .record(let header) = peek() else { return nil }
    let place = offset
    offset += header.size
    return (place, header)
  }

  /// Goes to the next record, from here on, that can be read and is accepted, or else to the end.
  ///
  /// - Returns: what was passed.
  @discardableResult
  mutating func seek(where isAccepted: (RecordHeader) -> Bool = { _ in true }) -> Range<Int> {
    let start = offset
    while offset < end {
      if case .record(let header) = peek(), isAccepted(header) { break }
      offset = segment.nextRecord(after: offset, end: end) ?? end
    }
    // A writer in another process may have published what is to stand here, and then what was found, since the first look.
    if offset > start, case .record(let header) = segment.readRecord(at: start, end: end), isAccepted(header) {
      offset = start
    }
    return start..<max(start, offset)
  }
}
