internal import EskerFormat

/// The tail at one moment, and where its records end then: what its facts do not say as long as it takes records.
struct LogTail {
  /// The segment being written, or read; nil if there is none.
  var segment: Segment?
  /// The offset behind its last record.
  var end: Int

  /// Where the records of any segment end at that moment; nil if it is not known.
  func recordsEnd(of segment: Segment) -> Int? { segment === self.segment ? end : segment.recordsEnd }

  /// Bytes of records in any segment; 0 if not known.
  func recordBytes(of segment: Segment) -> Int {
    segment === self.segment ? max(0, end - SegmentHeader.length) : segment.recordBytes
  }
}
