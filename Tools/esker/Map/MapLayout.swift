/// Where the segments stand in the picture: in rows from the left to the right, the oldest first.
struct MapLayout {
  static let width = 1200.0
  static let margin = 24.0
  /// Room for a row's labels.
  static let labelHeight = 20.0

  /// Places in a row, and how wide each is.
  let columns: Int
  let pitch: Double
  /// How high the largest segment is.
  let barHeight: Double
  let rows: Int

  private static var room: Double { width - 2 * margin }

  init(count: Int) {
    // Wide enough to point at; no wider than looks well.
    let pitch = [96.0, 72, 48, 36, 24, 16].first { Double(count) * $0 <= Self.room } ?? (count > 600 ? 10 : 12)
    self.pitch = pitch
    columns = max(1, Int(Self.room / pitch))
    rows = max(1, (count + columns - 1) / columns)
    barHeight = rows == 1 ? 220 : rows <= 3 ? 140 : 72
  }

  /// Space between two segments.
  var gap: Double { pitch >= 24 ? 4 : 2 }

  var barWidth: Double { pitch - gap }

  var rowHeight: Double { barHeight + Self.labelHeight + 10 }

  /// The bottom left corner of a segment, from the top of the first row.
  func corner(_ index: Int) -> (x: Double, y: Double) {
    (Self.margin + Double(index % columns) * pitch, Double(index / columns) * rowHeight + barHeight)
  }

  func isFirstOfRow(_ index: Int) -> Bool { index % columns == 0 }

  /// Whether there is room for a label at each segment.
  var labelsEach: Bool { pitch >= 48 }
}
