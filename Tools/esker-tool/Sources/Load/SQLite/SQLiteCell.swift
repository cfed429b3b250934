/// A value of a row, as a query prints it: a letter for its type, and then its digits, or its bytes in hexadecimal.
enum SQLiteCell: Equatable {
  case null
  case integer(Int64)
  case real(Double)
  /// In UTF-8, if the database has what it says.
  case text([UInt8])
  case blob([UInt8])

  /// The cell that a part of a line says; nil if it says none.
  init?(_ part: Span<UInt8>, _ encoding: SQLiteEncoding) {
    guard !part.isEmpty else { return nil }
    let rest = part.extracting(1..<part.count)
    switch part[0] {
    case UInt8(ascii: "n") where rest.isEmpty: self = .null
    case UInt8(ascii: "i"):
      guard let number = Int64(String(decoding: [UInt8](copying: rest), as: UTF8.self)) else { return nil }
      self = .integer(number)
    case UInt8(ascii: "r"):
      guard let number = Double(String(decoding: [UInt8](copying: rest), as: UTF8.self)) else { return nil }
      self = .real(number)
    case UInt8(ascii: "t"):
      var bytes: [UInt8] = []
      guard ByteEncoding.decodeHex(rest, into: &bytes), let text = encoding.utf8(of: bytes) else { return nil }
      self = .text(text)
    case UInt8(ascii: "b"):
      var bytes: [UInt8] = []
      guard ByteEncoding.decodeHex(rest, into: &bytes) else { return nil }
      self = .blob(bytes)
    default: return nil
    }
  }

  /// The cells of a line; nil if it is not one of a row.
  static func row(_ line: Span<UInt8>, _ encoding: SQLiteEncoding) -> [SQLiteCell]? {
    var cells: [SQLiteCell] = []
    var start = 0
    for index in 0...line.count where index == line.count || line[index] == UInt8(ascii: "|") {
      guard let cell = SQLiteCell(line.extracting(start..<index), encoding) else { return nil }
      cells.append(cell)
      start = index + 1
    }
    return cells
  }

  /// The bytes of a key or a value: text and blobs as they are, numbers as their digits; nil for null.
  var bytes: [UInt8]? {
    switch self {
    case .null: nil
    case .integer(let number): Array("\(number)".utf8)
    case .real(let number): Array("\(number)".utf8)
    case .text(let bytes), .blob(let bytes): bytes
    }
  }
}

extension JSONWriter {
  /// Adds a value of a row.
  ///
  /// - Throws: ``EntryFault`` for what JSON has no type for.
  mutating func value(_ cell: SQLiteCell, column: String) throws(EntryFault) {
    switch cell {
    case .null: null()
    case .integer(let number): literal("\(number)")
    case .real(let number):
      guard number.isFinite else {
        throw EntryFault(description: "column \"\(column)\" is infinite, which JSON cannot say")
      }
      value(number)
    case .text(let bytes):
      guard UTF8Check.isValid(ContiguousArray(bytes).span) else {
        throw EntryFault(description: "column \"\(column)\" is not valid UTF-8")
      }
      value(utf8: ContiguousArray(bytes).span)
    case .blob:
      throw EntryFault(
        description: "column \"\(column)\" holds bytes, which JSON has no type for: choose columns with --value-field, "
          + "or with --query, where hex(\"\(column)\") makes text of them"
      )
    }
  }
}
