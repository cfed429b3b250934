import Esker

/// A page around the picture: the figures of the segment under the pointer, and of all segments in a table. It loads no
/// external resources.
struct MapPage {
  private let map: SegmentMap

  init(_ map: SegmentMap) {
    self.map = map
  }

  var text: String {
    var writer = MarkupWriter()
    writer.add(markup: "<!DOCTYPE html>\n")
    writer.page("\(map.name) - Esker segments", style: MapStyle.picture) { writer in
      writer.element("main") { addContents(to: &$0) }
      writer.element("script") { $0.add(markup: MapStyle.script) }
    }
    return writer.text
  }

  private func addContents(to writer: inout MarkupWriter) {
    writer.element("h1", text: map.name)
    writer.element("p", ["class": "lead"], text: map.summary)
    if let error = map.openError {
      writer.element(
        "p",
        ["class": "trouble"],
        text: "Live data is unknown because the store cannot be opened: \(error)"
      )
    }
    for total in map.totals {
      writer.element("p", ["class": "total"]) { writer in
        writer.add(total.title + " ")
        writer.element("b", text: HumanUnits.bytes(total.bytes))
      }
      PartBar(parts: total.parts.map { ($0, map.total($0)) }, total: map.total).add(to: &writer)
    }
    PartBar.addLegend(map.legend, to: &writer)
    addScale(to: &writer)
    writer.element("figure") { writer in
      writer.add(markup: map.picture(.wide))
      writer.add(markup: map.picture(.narrow))
    }
    writer.element("div", ["id": "details", "aria-live": "polite"]) { writer in
      writer.element("h2", text: "Point at a segment")
      writer.element("dl") { writer in
        writer.element("div") { $0.element("dt", text: "or choose one with the arrow keys") }
      }
    }
    BarRows(heading: "Largest keyspaces", rows: keyspaces).add(to: &writer)
    MapActivity(map.segments, map.published).add(to: &writer)
    writer.element("details") { writer in
      writer.element("summary", text: "All segments as a table")
      writer.element("div", ["class": "scroll"]) { addTable(to: &$0) }
    }
    writer.element("footer", text: "Drawn by esker map, \(map.moment)")
  }

  /// The keyspaces by what their records take, and what these are for.
  private var keyspaces: [BarRows.Row] {
    let used = map.keyspaces.filter { $0.value.recordBytes > 0 }
    let sorted = used.sorted { ($1.value.recordBytes, $0.key) < ($0.value.recordBytes, $1.key) }
    return sorted.map { name, figures in
      BarRows.Row(
        name: shownKeyspace(name),
        parts: [
          (.lasting, Double(figures.lasting.bytes)), (.expiring, Double(figures.expiring.bytes)),
          (.dead, Double(figures.reclaimableBytes)),
        ],
        figure: "\(HumanUnits.bytes(figures.recordBytes)), \(NumberText.count(figures.liveRecords, "key"))"
      )
    }
  }

  private func addScale(to writer: inout MarkupWriter) {
    writer.element("p", ["class": "scale"]) { writer in
      writer.element("span") { writer in
        writer.element("b", text: "Segments")
        writer.add(" from the oldest to the newest; the highest stands for \(HumanUnits.bytes(map.tallest))")
      }
      guard map.segments.contains(where: { $0.heat != nil }) else { return }
      writer.element("span", ["class": "heat"]) { writer in
        writer.add("The strip below: rewritten since, none to all ")
        for step in 0...SegmentHeat.steps { writer.element("span", ["class": "key heat\(step)"]) { _ in } }
      }
    }
  }

  private func addTable(to writer: inout MarkupWriter) {
    writer.element("table") { writer in
      writer.element("caption", text: "Sizes in bytes, the oldest segment first")
      writer.element("thead") { writer in
        writer.element("tr") { writer in
          writer.element("th", ["scope": "col"], text: "segment")
          writer.element("th", ["scope": "col", "class": "word"], text: "kind")
          writer.element("th", ["scope": "col", "class": "word"], text: "begun")
          writer.element("th", ["scope": "col"], text: "file")
          for part in map.parts { writer.element("th", ["scope": "col"], text: part.words) }
          for title in ["unpacked", "first write", "last write"] { writer.element("th", ["scope": "col"], text: title) }
          writer.element("th", ["scope": "col", "class": "word"], text: "damage")
        }
      }
      writer.element("tbody") { writer in
        for segment in map.segments { addRow(segment, to: &writer) }
      }
    }
  }

  private func addRow(_ segment: MapSegment, to writer: inout MarkupWriter) {
    let description = segment.description
    writer.element("tr") { writer in
      writer.element("th", ["scope": "row"], text: "\(description.id)")
      writer.element("td", ["class": "word"], text: description.kind?.rawValue ?? "unknown")
      writer.element("td", ["class": "word"], text: description.created.map { Cell.instant($0).shown } ?? "")
      writer.element("td", text: description.fileBytes.map { NumberText.count($0) } ?? "missing")
      for part in map.parts { writer.element("td", text: NumberText.count(segment.bytes(part))) }
      writer.element("td", text: description.unpackedBytes.map { NumberText.count($0) } ?? "")
      writer.element("td", text: description.sequences.map { "\($0.lowerBound)" } ?? "")
      writer.element("td", text: description.sequences.map { "\($0.upperBound)" } ?? "")
      writer.element("td", ["class": "word damage"], text: description.damage.joined(separator: "; "))
    }
  }
}
