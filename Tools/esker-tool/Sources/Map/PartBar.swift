import Esker

/// A bar across a page of what bytes are for.
struct PartBar {
  let parts: [(part: MapPart, bytes: Int)]
  /// What the width of the page stands for.
  let total: Int

  func add(to writer: inout MarkupWriter) {
    writer.element("div", ["class": "bar", "aria-hidden": "true"]) { writer in
      for (part, bytes) in parts where bytes > 0 { writer.bar(part, Double(bytes) / Double(max(1, total))) }
    }
  }

  /// What the colors stand for: classes of the style, and words.
  static func addLegend(_ entries: [(class: String, text: String)], to writer: inout MarkupWriter) {
    writer.element("ul", ["class": "legend"]) { writer in
      for entry in entries {
        writer.element("li") { writer in
          writer.element("span", ["class": "key \(entry.class)"]) { _ in }
          writer.add(entry.text)
        }
      }
    }
  }
}

extension MarkupWriter {
  /// A part of a bar that takes a share of its width.
  mutating func bar(_ part: MapPart, _ share: Double) {
    element("span", ["class": part.rawValue, "style": "width:\(NumberText.fixed(share * 100, 2))%"]) { _ in }
  }
}
