internal import EskerFormat
internal import Synchronization

/// The contents of a backup: the segments of a snapshot, each shared as a file or copied up to where the snapshot ends.
struct BackupPlan {
  struct Part {
    let segment: Segment
    /// The segment's row in the backup's manifest.
    var row: SegmentRow
    /// Whether the file is never written again, so that a hard link to it is as good as a copy.
    let isFinal: Bool
  }

  var parts: [Part] = []

  /// - Parameter listed: The manifest on disk. A segment that it calls sealed, and whose records are durable, is never
  ///   written again. Other segments are copied.
  init(_ snapshot: borrowing Snapshot, listed: Manifest) {
    let rows = Dictionary(uniqueKeysWithValues: listed.segments.map { ($0.id, $0) })
    let sequence = snapshot.sequence.rawValue
    var granule: UInt32 = 0
    for (segment, end) in snapshot.extents {
      let first = segment.firstSequence
      guard end > SegmentHeader.length, first != 0 else { continue }
      let part: Part
      if let row = rows[segment.id], row.state == .sealed, row.lastSequence <= listed.durableSequence,
        row.recordsEnd == UInt64(end)
      {
        part = Part(segment: segment, row: row, isFinal: true)
      } else {
        let isSealed = segment.isSealed
        let last = isSealed ? segment.lastSequence : sequence
        var row = SegmentRow(
          id: segment.id,
          salt: segment.salt,
          kind: segment.kind,
          state: .sealed,
          granule: 0,
          granules: UInt32(segment.granuleCount),
          firstSequence: first,
          lastSequence: min(last, sequence),
          recordsEnd: UInt64(end),
          fileLength: UInt64(end)
        )
        row.dictionaryLength = segment.layout.dictionaryLength
        part = Part(segment: segment, row: row, isFinal: false)
      }
      parts.append(part)
      // A backup has no checkpoint, so addresses may change.
      parts[parts.count - 1].row.granule = granule
      granule += part.row.granules
    }
  }

  /// The size of all files, in bytes.
  var bytes: Int { parts.reduce(0) { $0 + Int(clamping: $1.row.fileLength) } }
}
