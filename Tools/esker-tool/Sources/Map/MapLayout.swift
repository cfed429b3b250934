/// The positions of the segments in the picture: in rows from left to right, oldest first.
struct MapLayout {
  static let width = 1200.0
  static let margin = 24.0
  /// The height of a row's labels.
  static let labelHeight = 20.0

  /// The number of places in a row, and the width of each.
  let columns: Int
  let pitch: Double
  /// The height of the largest segment.
  let barHeight: Double
  let rows: Int

  private static var room: Double { width - 2 * margin }

  init(count: Int) {
    // Wide enough to point at, but not too wide to look good.
    let pitch = [96.0, 72, 48, 36, 24, 16].first { Double(count) * $0 <= Self.room } ?? (count > 600 ? 10 : 12)
    self.pitch = pitch
    columns = max(1, Int(Self.room / pitch))
    rows = max(1, (count + columns - 1) / columns)
    barHeight = rows == 1 ? 220 : rows <= 3 ? 140 : 72
  }

  /// The space between two segments.
  var gap: Double { pitch >= 24 ? 4 : 2 }

  var barWidth: Double { pitch - gap }

  var rowHeight: Double { barHeight + Self.labelHeight + 10 }

  /// The bottom left corner of a segment, relative to the top of the first row.
  func corner(_ index: Int) -> (x: Double, y: Double) {
    (Self.margin + Double(index % columns) * pitch, Double(index / columns) * rowHeight + barHeight)
  }

  func isFirstOfRow(_ index: Int) -> Bool { index % columns == 0 }

  /// Whether there is room for a label at each segment.
  var labelsEach: Bool { pitch >= 48 }
}
