/// Iterates over the records of a packed segment in order of their offsets.
///
/// The walk keeps no bytes: every step takes the same view. Whatever the bytes are, each step moves forward.
public struct PackedWalk: Sendable {
  /// The result of a step.
  public enum Step {
    /// A record whose header is intact. Its value has not been checked.
    case record(PackedEntry)
    /// Bytes in which no record was found.
    case damaged(Range<Int>)
  }

  /// Where the next record, or the cell that holds it, starts.
  private var offset: Int
  /// The cell there, if the walk is inside one, and the next record in it.
  private var shape: CellShape?
  private var place = PackedCell.Place()

  /// Creates a walk from a segment's first record.
  public init(_ view: PackedSegmentView) {
    offset = view.recordsStart
  }

  /// Takes the next step; nil at the end.
  ///
  /// - Complexity: O(1), except in damaged bytes.
  public mutating func next(in view: PackedSegmentView) -> Step? {
    if shape == nil { skipGap(in: view) }
    guard offset < view.end else { return nil }
    if let cell = shape.map({ PackedCell(view, $0) }) ?? intactCell(in: view) {
      shape = cell.shape
      if let entry = cell.entry(at: place) {
        place.pass(entry)
        if place.index == cell.count { leaveCell() }
        return .record(entry)
      }
      // The header matches its checksum but is inconsistent.
      defer { leaveCell() }
      return .damaged(offset..<offset + PackedLayout.cellLength)
    }
    if let entry = intactRecord(in: view) {
      offset += entry.size
      return .record(entry)
    }
    let start = offset
    repeat { offset += PackedLayout.alignment } while offset < view.end && !isAtRecord(in: view)
    offset = min(offset, view.end)
    return .damaged(start..<offset)
  }

  private mutating func leaveCell() {
    offset += PackedLayout.cellLength
    shape = nil
    place = PackedCell.Place()
  }

  /// Skips zeros up to the next cell.
  private mutating func skipGap(in view: PackedSegmentView) {
    guard offset + 8 <= view.end, view.u64(offset) == 0 else { return }
    let boundary = (offset + PackedLayout.cellLength) & ~(PackedLayout.cellLength - 1)
    guard boundary < view.end, view.bytes(offset..<boundary).isZero else { return }
    offset = boundary
  }

  private func isAtRecord(in view: PackedSegmentView) -> Bool {
    intactCell(in: view) != nil || intactRecord(in: view) != nil
  }

  private func intactRecord(in view: PackedSegmentView) -> PackedEntry? {
    guard let entry = view.record(at: offset), entry.headIsIntact(salt: view.salt) else { return nil }
    return entry
  }

  private func intactCell(in view: PackedSegmentView) -> PackedCell? {
    guard offset & (PackedLayout.cellLength - 1) == 0, let cell = view.cell(at: offset) else { return nil }
    return cell.entry(0)?.headIsIntact(salt: view.salt) == true ? cell : nil
  }
}
