internal import EskerFormat

/// A checkpoint, and where the log continues after it.
struct CheckpointPlace {
  let id: UInt64
  let sequence: UInt64
  let segment: UInt64
  let offset: Int

  init(_ cut: CheckpointCut, id: UInt64) {
    self.id = id
    (sequence, segment, offset) = (cut.sequence, cut.replaySegmentID, cut.replayOffset)
  }

  init(_ header: CheckpointHeader) {
    (id, sequence) = (header.checkpointID, header.sequence)
    (segment, offset) = (header.replaySegmentID, Int(clamping: header.replayOffset))
  }

  /// Where reading continues in a log, whose segments are in order; nil if the segment is gone.
  ///
  /// It may have been empty when the checkpoint was written. What was too large for it went to another one then, and it was written to
  /// after that.
  func start(in log: [Segment]) -> (index: Int, offset: Int)? {
    guard let index = log.firstIndex(where: { $0.id == segment }) else { return nil }
    let earlier = log[..<index].firstIndex { $0.firstSequence > sequence }
    return earlier.map { ($0, SegmentHeader.length) } ?? (index, offset)
  }
}
