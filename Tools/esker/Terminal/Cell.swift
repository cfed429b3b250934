import Esker

/// A value in a report: as people read it, and as programs do.
struct Cell: Equatable {
  /// With units and groups of digits.
  let shown: String
  /// Without: bytes as a number, instants as ISO 8601, nothing as nothing.
  let plain: String
  /// How it looks on a terminal.
  var paint: Paint?

  static let none = Cell(shown: "-", plain: "")

  /// Text that may hold anything.
  static func text(_ text: String) -> Cell { .bytes(Array(text.utf8)) }

  /// A key, or other bytes of any kind.
  static func bytes(_ bytes: [UInt8]) -> Cell {
    let text = escaped(bytes)
    return Cell(shown: text, plain: text)
  }

  /// Words of the tool's own.
  static func word(_ word: String, _ paint: Paint? = nil) -> Cell { Cell(shown: word, plain: word, paint: paint) }

  static func count(_ number: Int) -> Cell { Cell(shown: HumanUnits.count(number), plain: "\(number)") }

  /// A number that is a name, such as an id: its digits are not grouped.
  static func number(_ number: UInt64) -> Cell { Cell(shown: "\(number)", plain: "\(number)") }

  static func size(_ bytes: Int) -> Cell { Cell(shown: HumanUnits.bytes(bytes), plain: "\(bytes)") }

  static func decimal(_ value: Double, _ decimals: Int) -> Cell {
    let text = HumanUnits.fixed(value, decimals)
    return Cell(shown: text, plain: text)
  }

  static func share(_ part: Int, of whole: Int) -> Cell {
    guard whole > 0 else { return .none }
    let percent = HumanUnits.fixed(Double(part) / Double(whole) * 100, 0)
    return Cell(shown: percent + " %", plain: HumanUnits.fixed(Double(part) / Double(whole), 4))
  }

  static func instant(_ time: WallTime) -> Cell {
    let text = timestamp(time)
    // Nobody needs the milliseconds, nor the zone, which is always the same, at the cost of a column's width.
    return Cell(shown: String(text.replacing("T", with: " ").dropLast(5)), plain: text)
  }

  func painted(_ paint: Paint?) -> Cell {
    var cell = self
    cell.paint = paint
    return cell
  }
}
