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

/// The keyspaces with the most keys, as bars across the page.
struct KeyspaceBars {
  private let keyspaces: [(name: String, keys: Int)]
  private let others: Int

  private static let most = 12

  init(_ keyspaces: [String: Int]) {
    let sorted = keyspaces.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    self.keyspaces = sorted.prefix(Self.most).map { (name: $0.key, keys: $0.value) }
    others = sorted.dropFirst(Self.most).count
  }

  func add(to writer: inout MarkupWriter) {
    guard keyspaces.count > 1 else { return }
    writer.element("h2", text: "Keyspaces by keys")
    let rows = keyspaces.map { name, keys in
      BarRows.Row(name: shownKeyspace(name), parts: [(.lasting, Double(keys))], figure: HumanUnits.count(keys))
    }
    BarRows(rows: rows).add(to: &writer)
    if others > 0 { writer.element("p", ["class": "lead"], text: "and \(HumanUnits.count(others)) with fewer") }
  }
}

/// The name of a keyspace as pages show it.
func shownKeyspace(_ name: String) -> String { name.isEmpty ? "(default)" : escaped(Array(name.utf8)) }

/// A rate over time, as an area across the page.
struct RateChart {
  let title: String
  /// Oldest first.
  let rates: [Double]
  /// How far back they go.
  let seconds: Double

  private static let (width, height) = (600.0, 120.0)

  func add(to writer: inout MarkupWriter) {
    let top = rates.max() ?? 0
    let number = MarkupWriter.number
    writer.element("section", ["class": "chart"]) { writer in
      writer.element("h2") { writer in
        writer.add(title)
        writer.element(
          "span",
          ["class": "peak"],
          text: "peak \(HumanUnits.count(Int(clamping: Int64(min(top.rounded(), 1e15)))))"
        )
      }
      writer.element(
        "svg",
        [
          "viewBox": "0 0 \(number(Self.width)) \(number(Self.height))", "preserveAspectRatio": "none", "role": "img",
          "aria-label": title,
        ]
      ) { writer in
        for share in [0.25, 0.5, 0.75] {
          let y = number(Self.height * share)
          writer.shape("line", ["x1": "0", "x2": number(Self.width), "y1": y, "y2": y, "class": "grid"])
        }
        guard rates.count > 1, top > 0 else { return }
        let points = rates.enumerated().map { index, rate in
          let x = Self.width * Double(index) / Double(rates.count - 1)
          return "\(number(x)),\(number(Self.height - 4 - (Self.height - 10) * rate / top))"
        }.joined(separator: " ")
        writer.shape(
          "polygon",
          [
            "points": "0,\(number(Self.height)) \(points) \(number(Self.width)),\(number(Self.height))",
            "class": "area",
          ]
        )
        writer.shape("polyline", ["points": points, "class": "line"])
      }
      writer.element("p", ["class": "axis"]) { writer in
        writer.element("span", text: rates.count > 1 ? "\(HumanUnits.duration(seconds: seconds)) ago" : "")
        writer.element("span", text: rates.count > 1 ? "now" : "waiting for the next update")
      }
    }
  }
}
