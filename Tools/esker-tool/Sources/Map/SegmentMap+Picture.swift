extension SegmentMap {
  /// The picture, standalone or for embedding in a page.
  func picture(isEmbedded: Bool = false) -> String {
    var writer = MarkupWriter()
    let layout = MapLayout(count: segments.count)
    let top = isEmbedded ? 8.0 : 84.0
    let mapTop = top + 224
    let height = mapTop + Double(layout.rows) * layout.rowHeight + 8
    // The page has margins of its own.
    let inset = isEmbedded ? MapLayout.margin : 0
    let number = MarkupWriter.number
    writer.element(
      "svg",
      [
        "xmlns": "http://www.w3.org/2000/svg",
        "viewBox": "\(number(inset)) 0 \(number(MapLayout.width - 2 * inset)) \(number(height))",
        "role": "img", "aria-labelledby": "map-title map-summary", "class": "map",
      ]
    ) { writer in
      writer.element("title", ["id": "map-title"], text: "Segments of \(name)")
      writer.element("desc", ["id": "map-summary"], text: summary)
      if !isEmbedded {
        writer.element("style") { $0.add(markup: MapStyle.colors("svg.map") + MapStyle.picture) }
        writer.shape("rect", ["class": "ground", "width": "100%", "height": "100%"])
        writer.element("text", ["x": "24", "y": "42", "class": "heading"], text: name)
        writer.element("text", ["x": "24", "y": "66", "class": "note"], text: openError.map { "\($0)" } ?? summary)
      }
      drawPatterns(&writer)
      drawTotals(&writer, top: top)
      drawLegend(&writer, top: top + 132)
      drawScale(&writer, y: mapTop - 26)
      for index in segments.indices { draw(index, layout, top: mapTop, &writer) }
    }
    return writer.text + "\n"
  }

  private func drawPatterns(_ writer: inout MarkupWriter) {
    // Reclaimable space is marked by stripes too, not by color alone.
    writer.element("defs") { writer in
      writer.element(
        "pattern",
        [
          "id": "stripes", "width": "6", "height": "6", "patternUnits": "userSpaceOnUse",
          "patternTransform": "rotate(45)",
        ]
      ) { writer in
        writer.shape("rect", ["width": "6", "height": "6", "class": "dead"])
        writer.shape("rect", ["width": "2", "height": "6", "class": "stripe"])
      }
    }
  }

  // MARK: Totals

  private func drawTotals(_ writer: inout MarkupWriter, top: Double) {
    let merged = parts.filter { $0 == .lasting || $0 == .expiring || $0 == .unknown || $0 == .other }
    let after = merged.reduce(0) { $0 + total($1) }
    drawTotal("Now", total, parts, &writer, top: top)
    let title = openError == nil ? "After a merge of everything" : "Records"
    drawTotal(title, after, merged, &writer, top: top + 62)
  }

  private func drawTotal(
    _ title: String,
    _ bytes: Int,
    _ parts: [MapPart],
    _ writer: inout MarkupWriter,
    top: Double
  ) {
    let number = MarkupWriter.number
    writer.element("text", ["x": "24", "y": number(top + 14), "class": "label"]) { writer in
      writer.add(title + " ")
      writer.element("tspan", ["class": "value"], text: HumanUnits.bytes(bytes))
    }
    var x = MapLayout.margin
    for part in parts {
      let width = Double(total(part)) / Double(max(1, total)) * (MapLayout.width - 2 * MapLayout.margin)
      writer.shape(
        "rect",
        [
          "x": number(x), "y": number(top + 22), "width": number(max(width, 0.5)), "height": "22",
          "class": part.rawValue,
        ]
      )
      x += width
    }
  }

  private func drawLegend(_ writer: inout MarkupWriter, top: Double) {
    let number = MarkupWriter.number
    var entries = parts.map { (class: $0.rawValue, text: "\($0.words): \(HumanUnits.bytes(total($0)))") }
    if saved > 0 { entries.append(("unpacked", "size if not packed")) }
    if segments.contains(where: { !$0.description.damage.isEmpty }) { entries.append(("damaged", "damaged")) }
    var x = MapLayout.margin
    for entry in entries {
      writer.shape(
        "rect",
        ["x": number(x + 1), "y": number(top + 1), "width": "13", "height": "13", "class": entry.class]
      )
      writer.element("text", ["x": number(x + 21), "y": number(top + 12), "class": "label"], text: entry.text)
      x += 21 + Double(entry.text.count) * 7.4 + 26
    }
  }

  private func drawScale(_ writer: inout MarkupWriter, y: Double) {
    writer.element("text", ["x": "24", "y": MarkupWriter.number(y), "class": "label"]) { writer in
      writer.element("tspan", ["class": "value"], text: "Segments")
      writer.add(" from the oldest to the newest; the highest stands for \(HumanUnits.bytes(tallest))")
    }
  }

  // MARK: Segments

  /// The bytes that correspond to the full height of a row.
  private var tallest: Int {
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
      writer.shape(
        "rect",
        [
          "x": number(x - layout.gap / 2), "y": number(y - layout.barHeight), "width": number(layout.pitch),
          "height": number(layout.barHeight + MapLayout.labelHeight), "class": "target",
        ]
      )
      var level = y
      for (part, bytes) in segment.parts {
        let height = Double(bytes) * scale
        level -= height
        writer.shape(
          "rect",
          [
            "x": number(x), "y": number(level), "width": number(layout.barWidth), "height": number(max(height, 0.2)),
            "class": part.rawValue,
          ]
        )
      }
      if segment.savedBytes > 0 {
        let height = Double(segment.savedBytes) * scale
        writer.shape(
          "rect",
          [
            "x": number(x + 0.5), "y": number(level - height), "width": number(layout.barWidth - 1),
            "height": number(height), "class": "unpacked",
          ]
        )
      }
      writer.shape(
        "rect",
        [
          "x": number(x), "y": number(y + 2), "width": number(layout.barWidth), "height": "3",
          "class": segment.description.damage.isEmpty ? "foot" : "foot damaged",
        ]
      )
    }
    if layout.labelsEach || layout.isFirstOfRow(index) {
      var text = "\(segment.description.id)"
      if !layout.labelsEach, let age = segment.age { text += ", \(HumanUnits.duration(seconds: age)) ago" }
      writer.element("text", ["x": number(x), "y": number(y + 18), "class": "id"], text: text)
    }
  }

  private func title(of segment: MapSegment) -> String {
    (["segment \(segment.description.id)"] + segment.details.map { "\($0.title): \($0.value)" }).joined(separator: "\n")
  }
}
