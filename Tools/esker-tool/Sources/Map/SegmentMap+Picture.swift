extension SegmentMap {
  /// Where a picture stands.
  enum Place: String {
    /// In a file of its own.
    case alone
    /// In a page, which has margins, totals and a legend of its own; which of the two is shown depends on the page's width.
    case wide, narrow
  }

  func picture(_ place: Place = .alone) -> String {
    var writer = MarkupWriter()
    let width = place == .narrow ? MapLayout.narrowWidth : MapLayout.width
    let layout = MapLayout(count: segments.count, width: width)
    let top = place == .alone ? 308.0 : 8
    let height = top + Double(layout.rows) * layout.rowHeight + 8
    let inset = place == .alone ? 0 : MapLayout.margin
    let number = MarkupWriter.number
    writer.element(
      "svg",
      [
        "xmlns": "http://www.w3.org/2000/svg",
        "viewBox": "\(number(inset)) 0 \(number(width - 2 * inset)) \(number(height))", "role": "img",
        "aria-labelledby": "title-\(place) summary-\(place)", "class": "map \(place)",
      ]
    ) { writer in
      writer.element("title", ["id": "title-\(place)"], text: "Segments of \(name)")
      writer.element("desc", ["id": "summary-\(place)"], text: summary)
      if place == .alone {
        writer.element("style") { $0.add(markup: MapStyle.colors("svg.map") + MapStyle.picture) }
        writer.shape("rect", ["class": "ground", "width": "100%", "height": "100%"])
        writer.element("text", ["x": "24", "y": "42", "class": "heading"], text: name)
        writer.element("text", ["x": "24", "y": "66", "class": "note"], text: openError.map { "\($0)" } ?? summary)
        drawTotals(&writer, top: 84)
        drawLegend(&writer, top: 216)
        drawScale(&writer, y: top - 26)
      }
      drawPattern(&writer, place)
      for index in segments.indices { draw(index, layout, top: top, &writer) }
    }
    return writer.text + "\n"
  }

  private func drawPattern(_ writer: inout MarkupWriter, _ place: Place) {
    // Reclaimable space is marked by stripes too, not by color alone.
    writer.element("defs") { writer in
      writer.element(
        "pattern",
        [
          "id": "stripes-\(place)", "width": "6", "height": "6", "patternUnits": "userSpaceOnUse",
          "patternTransform": "rotate(45)",
        ]
      ) { writer in
        writer.shape("rect", ["width": "6", "height": "6", "class": "solid"])
        writer.shape("rect", ["width": "2", "height": "6", "class": "stripe"])
      }
    }
  }

  // MARK: Totals

  private func drawTotals(_ writer: inout MarkupWriter, top: Double) {
    for (row, total) in totals.enumerated() {
      let top = top + 62 * Double(row)
      writer.element("text", ["x": "24", "y": MarkupWriter.number(top + 14), "class": "label"]) { writer in
        writer.add(total.title + " ")
        writer.element("tspan", ["class": "value"], text: HumanUnits.bytes(total.bytes))
      }
      var x = MapLayout.margin
      for part in total.parts {
        let share = Double(self.total(part)) / Double(max(1, self.total))
        let width = share * (MapLayout.width - 2 * MapLayout.margin)
        writer.rectangle(part.rawValue, x: x, y: top + 22, width: max(width, 0.5), height: 22)
        x += width
      }
    }
  }

  private func drawLegend(_ writer: inout MarkupWriter, top: Double) {
    let number = MarkupWriter.number
    var x = MapLayout.margin
    for entry in legend {
      writer.rectangle(entry.class, x: x + 1, y: top + 1, width: 13, height: 13)
      writer.element("text", ["x": number(x + 21), "y": number(top + 12), "class": "label"], text: entry.text)
      x += 21 + Double(entry.text.count) * 7.4 + 26
    }
  }

  private func drawScale(_ writer: inout MarkupWriter, y: Double) {
    writer.element("text", ["x": "24", "y": MarkupWriter.number(y), "class": "label"]) { writer in
      writer.element("tspan", ["class": "value"], text: "Segments")
      writer.add(" from the oldest to the newest; the highest stands for \(HumanUnits.bytes(tallest))")
    }
    guard segments.contains(where: { $0.heat != nil }) else { return }
    let number = MarkupWriter.number
    let right = MapLayout.width - MapLayout.margin
    let width = 26.0
    let left = right - Double(SegmentHeat.steps + 1) * width
    writer.element(
      "text",
      ["x": number(left - 10), "y": number(y), "class": "label", "text-anchor": "end"],
      text: "The strip below: rewritten since, none to all"
    )
    for step in 0...SegmentHeat.steps {
      writer.rectangle("heat\(step)", x: left + Double(step) * width, y: y - 9, width: width - 2, height: 9)
    }
  }

  // MARK: Segments

  /// The bytes that correspond to the full height of a row.
  var tallest: Int {
    max(1, segments.reduce(0) { max($0, ($1.description.fileBytes ?? 0) + $1.savedBytes) })
  }

  private func draw(_ index: Int, _ layout: MapLayout, top: Double, _ writer: inout MarkupWriter) {
    let segment = segments[index]
    let (x, bottom) = layout.corner(index)
    let y = top + bottom
    let number = MarkupWriter.number
    let scale = layout.barHeight / Double(tallest)
    writer.element("g", ["class": segment.description.damage.isEmpty ? "segment" : "segment broken"]) { writer in
      writer.element("title", text: title(of: segment))
      // The whole area reacts to the pointer, however little is drawn there.
      let height = layout.barHeight + MapLayout.labelHeight
      writer.rectangle("target", x: x - layout.gap / 2, y: y - layout.barHeight, width: layout.pitch, height: height)
      var level = y
      for (part, bytes) in segment.parts {
        let height = Double(bytes) * scale
        level -= height
        writer.rectangle(part.rawValue, x: x, y: level, width: layout.barWidth, height: max(height, 0.2))
      }
      if segment.savedBytes > 0 {
        let height = Double(segment.savedBytes) * scale
        writer.rectangle("unpacked", x: x + 0.5, y: level - height, width: layout.barWidth - 1, height: height)
      }
      writer.rectangle(foot(of: segment), x: x, y: y + 2, width: layout.barWidth, height: 7)
    }
    if layout.labelsEach || layout.isFirstOfRow(index) {
      var text = "\(segment.description.id)"
      if layout.labelsAges || !layout.labelsEach, let age = segment.age {
        text += ", \(HumanUnits.duration(seconds: age)) ago"
      }
      writer.element("text", ["x": number(x), "y": number(y + 22), "class": "id"], text: text)
    }
  }

  /// The strip below a segment shows damage, or else how much of it was rewritten.
  private func foot(of segment: MapSegment) -> String {
    guard segment.description.damage.isEmpty else { return "foot damaged" }
    return "foot heat\(segment.heat?.step ?? 0)"
  }

  private func title(of segment: MapSegment) -> String {
    (["segment \(segment.description.id)"] + segment.details.map { "\($0.title): \($0.value)" }).joined(separator: "\n")
  }
}
