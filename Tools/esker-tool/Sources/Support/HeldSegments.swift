import Esker

/// Segments that a merge has left as they were, since damage in them kept it from them.
struct HeldSegments {
  var segments: [UInt64] = []
  /// Bytes of records in them that nobody needs any more.
  var deadBytes = 0

  /// Lines that name them and say what helps; empty if there are none.
  func advice(_ path: String) -> String {
    if segments.isEmpty { return "" }
    let names = segments.prefix(DamageLines.most).map(String.init).joined(separator: ", ")
    let others = segments.count - DamageLines.most
    let path = quotedForShell(path)
    return "\n\(segments.count == 1 ? "segment" : "segments") \(names)"
      + (others > 0 ? " and \(NumberText.count(others)) more stay" : segments.count == 1 ? " stays" : " stay")
      + " because of damage, with \(HumanUnits.bytes(deadBytes)) to reclaim\n"
      + "to see what is damaged: esker verify \(path); to save everything intact, without what is dead: esker repair \(path) NEW"
  }
}

extension LogStore {
  /// Merges all that is dead, except in segments with a needed record that cannot be read.
  ///
  /// - Parameter notices: What the opening has found.
  func mergeAroundDamage(
    _ notices: StoreNotices,
    _ progress: (Double) -> Bool
  ) throws(StoreError) -> (Report.Merge, HeldSegments) {
    let before = statistics.merged
    var chosen: [UInt64]?
    var failed: Set<UInt64> = []
    while true {
      do throws(StoreError) {
        try withoutActuallyEscaping(progress) { (progress) throws(StoreError) in
          _ = try merge(segments: chosen, progress: progress)
        }
        break
      } catch {
        // Each time, one segment less is left.
        guard case .damaged(let location, let reason) = error, let id = location.segment,
          failed.insert(id).inserted
        else { throw error }
        notices.note(location)
        DamageReports.report(location, reason)
        chosen = mergeable.map(\.id).filter { !failed.contains($0) }
      }
    }
    let held = mergeable.filter { failed.contains($0.id) || notices.damagedSegments.contains($0.id) }
    // A merge that failed says nothing of what was merged before.
    var report = statistics.merged
    report.segmentsRemoved -= before.segmentsRemoved
    report.segmentsWritten -= before.segmentsWritten
    report.bytesRead -= before.bytesRead
    report.bytesWritten -= before.bytesWritten
    return (
      report,
      HeldSegments(segments: held.map(\.id), deadBytes: held.reduce(0) { $0 + $1.recordBytes - $1.liveBytes })
    )
  }

  /// The segments with something to do for a merge: with dead records, or to be packed.
  private var mergeable: [Statistics.SegmentFigures] {
    let statistics = statistics
    let packs = statistics.settings.compression != .off
    return statistics.segments.filter { $0.liveBytes < $0.recordBytes || packs && !$0.isPacked }
  }
}
