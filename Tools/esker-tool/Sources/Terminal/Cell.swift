import Esker

/// A value in a report, in a human-readable and a machine-readable form.
struct Cell: Equatable {
  /// With units and grouped digits.
  let shown: String
  /// Without either: bytes as a number, times as ISO 8601, a missing value as an empty string.
  let plain: String
  /// The style on a terminal.
  var paint: Paint?
  /// Whether a pipe gets the plain form in text for people too: an instant without its zone is another one.
  var isPlainInPipes = false

  static let none = Cell(shown: "-", plain: "")

  /// Arbitrary text.
  static func text(_ text: String) -> Cell { .bytes(Array(text.utf8)) }

  /// A key, or other arbitrary bytes.
  static func bytes(_ bytes: [UInt8]) -> Cell {
    let text = escaped(bytes)
    return Cell(shown: text, plain: text)
  }

  /// Fixed text of the tool.
  static func word(_ word: String, _ paint: Paint? = nil) -> Cell { Cell(shown: word, plain: word, paint: paint) }

  static func count(_ number: Int) -> Cell { Cell(shown: NumberText.count(number), plain: "\(number)") }

  /// A number used as an identifier: its digits are not grouped.
  static func number(_ number: UInt64) -> Cell { Cell(shown: "\(number)", plain: "\(number)") }

  static func size(_ bytes: Int) -> Cell { Cell(shown: HumanUnits.bytes(bytes), plain: "\(bytes)") }

  static func decimal(_ value: Double, _ decimals: Int) -> Cell {
    let text = NumberText.fixed(value, decimals)
    return Cell(shown: text, plain: text)
  }

  static func share(_ part: Int, of whole: Int) -> Cell {
    guard whole > 0 else { return .none }
    let percent = NumberText.fixed(Double(part) / Double(whole) * 100, 0)
    return Cell(shown: percent + " %", plain: NumberText.fixed(Double(part) / Double(whole), 4))
  }

  static func instant(_ time: WallTime) -> Cell {
    let text = time.description
    // Milliseconds are not useful here, and would only widen the column. The zone is that of the plain form.
    return Cell(shown: text.replacing("T", with: " ").dropLast(5) + "Z", plain: text, isPlainInPipes: true)
  }

  /// The name of a keyspace.
  static func keyspace(_ name: String) -> Cell {
    name.isEmpty ? Cell(shown: "(default)", plain: "", paint: .faint) : .text(name)
  }
}
