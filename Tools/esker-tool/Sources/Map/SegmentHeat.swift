import Esker

/// How fast the records of a segment are replaced or removed: what of them is dead, and since when it can have died.
///
/// A store counts reads as a whole and not by segment, so this says nothing of them.
struct SegmentHeat {
  /// Bytes of records that were replaced or removed.
  let rewritten: Int
  /// Of all records' bytes.
  let share: Double
  /// The age of the segment.
  let seconds: Double

  init(rewritten: Int, of records: Int, seconds: Double) {
    self.rewritten = rewritten
    self.seconds = seconds
    share = records > 0 ? min(1, Double(rewritten) / Double(records)) : 0
  }

  /// The number of steps above nothing, for which there are colors.
  static let steps = 4

  /// From 0, where nothing was rewritten, to ``steps``.
  var step: Int { share <= 0 ? 0 : min(Self.steps, 1 + Int(share * Double(Self.steps))) }

  /// Bytes rewritten in an hour.
  var bytesPerHour: Double { Double(rewritten) / max(1, seconds) * 3600 }

  /// `34 %, 12.8 MB in 3 h 5 min`.
  var text: String {
    "\(NumberText.fixed(share * 100, 0)) %, \(HumanUnits.bytes(rewritten)) in \(HumanUnits.duration(seconds: seconds))"
  }
}
