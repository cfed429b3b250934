/// The positions of the segments in the picture: in rows from left to right, oldest first.
struct MapLayout {
  static let width = 1200.0
  /// The width on a narrow page.
  static let narrowWidth = 400.0
  static let margin = 24.0
  /// The height of a row's labels.
  static let labelHeight = 24.0

  /// The number of places in a row, and the width of each.
  let columns: Int
  let pitch: Double
  /// The height of the largest segment.
  let barHeight: Double
  let rows: Int

  init(count: Int, width: Double = Self.width) {
    let room = width - 2 * Self.margin
    // Wide enough to point at, and as wide as the room allows.
    let least = count <= Int(room / 16) ? 16.0 : count > 600 ? 10 : 12
    columns = min(max(1, count), Int(room / least))
    pitch = room / Double(columns)
    rows = max(1, (count + columns - 1) / columns)
    barHeight = rows == 1 ? (count <= 3 ? 160 : 220) : rows <= 3 ? 140 : 72
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

  /// Whether there is room for its age in it.
  var labelsAges: Bool { pitch >= 110 }
}
