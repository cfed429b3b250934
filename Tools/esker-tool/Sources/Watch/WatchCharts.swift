import Esker

/// A bar of what the bytes on the disk are for, across the page.
struct SpaceBar {
  private let parts: [(part: MapPart, words: String, bytes: Int)]
  private let total: Int

  init(_ figures: Statistics) {
    // Before space that was reserved is returned, and for small stores, files take more than their records.
    let records = figures.liveBytes + figures.deadBytes
    total = max(1, figures.bytesOnDisk, records)
    parts = [
      (.lasting, "live", figures.liveBytes), (.dead, "dead", figures.deadBytes),
      (.free, "free and files' own", max(0, figures.bytesOnDisk - records)),
    ]
  }

  func add(to writer: inout MarkupWriter) {
    PartBar(parts: parts.map { ($0.part, $0.bytes) }, total: total).add(to: &writer)
    let entries = parts.map { (class: $0.part.rawValue, text: "\($0.words) \(HumanUnits.bytes($0.bytes))") }
    PartBar.addLegend(entries, to: &writer)
  }
}

/// The name of a keyspace as pages show it.
func shownKeyspace(_ name: String) -> String { name.isEmpty ? "(default)" : escaped(Array(name.utf8)) }

/// A figure over time, as an area across the page, with a scale.
struct TimeChart {
  let title: String
  let series: WatchHistory.Series
  /// Says a value with its unit.
  let text: (Double) -> String

  private static let (width, height) = (600.0, 120.0)

  func add(to writer: inout MarkupWriter) {
    let points = series.points
    let top = Self.scale(of: points.reduce(0) { max($0, $1.value) })
    let number = MarkupWriter.number
    writer.element("section", ["class": "chart"]) { writer in
      writer.element("h2", text: title)
      writer.element("div", ["class": "plot"]) { writer in
        writer.element(
          "svg",
          [
            "viewBox": "0 0 \(number(Self.width)) \(number(Self.height))", "preserveAspectRatio": "none", "role": "img",
            "aria-label": title,
          ]
        ) { writer in
          for share in [0, 0.5, 1] {
            let y = number(Self.y(share))
            writer.shape("line", ["x1": "0", "x2": number(Self.width), "y1": y, "y2": y, "class": "grid"])
          }
          guard points.count > 1, series.seconds > 0, top > 0 else { return }
          let places = points.map { "\(number(Self.width * $0.share)),\(number(Self.y($0.value / top)))" }
          let (first, last) = (
            number(Self.width * points[0].share), number(Self.width * points[points.count - 1].share)
          )
          let (line, floor) = (places.joined(separator: " "), number(Self.y(0)))
          writer.shape("polygon", ["points": "\(first),\(floor) \(line) \(last),\(floor)", "class": "area"])
          writer.shape("polyline", ["points": line, "class": "line"])
        }
        // Beside the picture: its own text would be stretched with it.
        for share in top > 0 ? [1, 0.5] : [] {
          let place = number(Self.y(share) / Self.height * 100)
          writer.element("span", ["class": "value", "style": "top:\(place)%"], text: text(top * share))
        }
      }
      writer.element("p", ["class": "axis"]) { writer in
        let isKnown = points.count > 1
        writer.element("span", text: isKnown ? "\(HumanUnits.duration(seconds: series.seconds)) ago" : "")
        writer.element("span", text: isKnown ? "now" : "waiting for the next update")
      }
    }
  }

  /// The place of a value in the picture; 0 is the floor, and 1 the top of the scale.
  private static func y(_ share: Double) -> Double { height - 4 - (height - 10) * share }

  /// The least of 1, 2 and 5 times a power of ten that is not below a value.
  private static func scale(of value: Double) -> Double {
    guard value > 0, value.isFinite else { return 0 }
    var unit = 1.0
    while unit < value { unit *= 10 }
    while unit / 10 >= value { unit /= 10 }
    return [0.2, 0.5].map { $0 * unit }.first { $0 >= value } ?? unit
  }
}
