import Esker

/// Bars that use the width of a page, one a row, with a name before and a figure behind, under a heading.
struct BarRows {
  struct Row {
    let name: String
    /// What the bar is made of: classes of the style, and amounts.
    let parts: [(part: MapPart, amount: Double)]
    let figure: String

    var amount: Double { parts.reduce(0) { $0 + $1.amount } }
  }

  let heading: String
  /// Largest first.
  let rows: [Row]
  /// How many are shown, and what the others are.
  var shown = 12
  var others = "smaller"

  /// The longest bar has the whole width.
  func add(to writer: inout MarkupWriter) {
    guard !rows.isEmpty else { return }
    let most = rows.reduce(0) { max($0, $1.amount) }
    writer.element("h2", text: heading)
    writer.element("div", ["class": "rows"]) { writer in
      for row in rows.prefix(shown) {
        writer.element("div", ["class": "row"]) { writer in
          writer.element("span", ["class": "name", "title": row.name], text: row.name)
          writer.element("span", ["class": "track"]) { writer in
            for (part, amount) in row.parts where amount > 0 { writer.bar(part, amount / most) }
          }
          writer.element("span", ["class": "count"], text: row.figure)
        }
      }
    }
    let left = rows.count - shown
    if left > 0 { writer.element("p", ["class": "lead"], text: "and \(NumberText.count(left)) \(others)") }
  }
}
