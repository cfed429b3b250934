import Esker

/// Builds XML and HTML, element by element.
struct MarkupWriter {
  private(set) var text = ""

  /// An element containing what `body` writes.
  mutating func element(
    _ name: String,
    _ attributes: KeyValuePairs<String, String> = [:],
    _ body: (inout MarkupWriter) -> Void
  ) {
    open(name, attributes)
    text += ">"
    body(&self)
    text += "</\(name)>"
  }

  /// An element containing text.
  mutating func element(_ name: String, _ attributes: KeyValuePairs<String, String> = [:], text: String) {
    element(name, attributes) { $0.add(text) }
  }

  /// An empty SVG element.
  mutating func shape(_ name: String, _ attributes: KeyValuePairs<String, String>) {
    open(name, attributes)
    text += "/>"
  }

  /// A rectangle of a class of the style.
  mutating func rectangle(_ name: String, x: Double, y: Double, width: Double, height: Double) {
    let number = Self.number
    shape(
      "rect",
      ["x": number(x), "y": number(y), "width": number(width), "height": number(height), "class": name]
    )
  }

  /// A page of HTML that loads nothing else.
  ///
  /// - Parameter head: Adds to the head.
  mutating func page(
    _ title: String,
    style: String,
    head: (inout MarkupWriter) -> Void = { _ in },
    body: (inout MarkupWriter) -> Void
  ) {
    element("html", ["lang": "en"]) { writer in
      writer.element("head") { writer in
        writer.add(markup: "<meta charset=\"utf-8\">")
        writer.add(markup: "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">")
        head(&writer)
        writer.element("title", text: title)
        writer.element("style") { $0.add(markup: MapStyle.colors(":root") + MapStyle.page + style) }
      }
      writer.element("body", [:], body)
    }
    text += "\n"
  }

  /// Text, escaped.
  mutating func add(_ text: String) { self.text += Self.escaped(text) }

  /// Markup, not escaped.
  mutating func add(markup: String) { text += markup }

  private mutating func open(_ name: String, _ attributes: KeyValuePairs<String, String>) {
    text += "<\(name)"
    for (key, value) in attributes { text += " \(key)=\"\(Self.escaped(value))\"" }
  }

  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      // XML allows no other control characters, escaped or not.
      case "\t", "\n": result.unicodeScalars.append(scalar)
      case _ where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF: result += "\u{FFFD}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// A length or a position, with no more digits than a screen can show.
  static func number(_ value: Double) -> String {
    let text = NumberText.fixed(value, 1)
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}
