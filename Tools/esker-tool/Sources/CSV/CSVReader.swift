/// How fields are told from one another.
struct CSVDialect: Equatable {
  var delimiter = UInt8(ascii: ",")
  /// Whether a field may stand in quotes; otherwise a quote is a character.
  var hasQuotes = true

  /// As other programs write columns with tabs between them.
  static let tabs = CSVDialect(delimiter: UInt8(ascii: "\t"), hasQuotes: false)
}

/// Reads rows of comma-separated values (RFC 4180), or of others like them, from lines, keeping one row at a time.
///
/// Lines end with LF or CRLF, or all of them with CR. A quoted field may contain these, commas, and doubled quotes; every byte in it
/// counts. Rows may differ in their number of fields: it is up to the caller to check.
struct CSVReader {
  enum Row: Equatable {
    /// The row's fields are in the reader.
    case fields
    /// An empty line.
    case blank
    /// An invalid row, and the reason. Reading continues after it; if the row is too long and ends inside a quoted field,
    /// after that field.
    case bad(String)
    case end
  }

  /// The unquoted bytes of the row's fields, concatenated.
  private(set) var text: [UInt8] = []
  /// Where each field ends in ``text``.
  private(set) var ends: [Int] = []
  /// The line on which the row began.
  private(set) var lineNumber = 0

  private let limit: Int
  private let dialect: CSVDialect

  /// Creates a reader of rows of at most `limit` bytes.
  init(limit: Int, _ dialect: CSVDialect = CSVDialect()) {
    self.limit = limit
    self.dialect = dialect
  }

  /// Finds out what ends the lines of an input of which nothing was read: CR if the first line ends so.
  static func findLineEnd(_ reader: inout LineReader) throws(ToolError) {
    let isReturn = try reader.peek { (bytes, isAtEnd) -> Bool? in
      var isQuoted = false
      for position in 0..<bytes.count {
        switch bytes[position] {
        case UInt8(ascii: "\""): isQuoted.toggle()
        case 0x0A where !isQuoted: return false
        case 0x0D where !isQuoted:
          if position + 1 < bytes.count { return bytes[position + 1] != 0x0A }
          return isAtEnd ? true : nil
        default: break
        }
      }
      return isAtEnd ? false : nil
    }
    if isReturn == true { reader.lineEnd = 0x0D }
  }

  var count: Int { ends.count }

  /// The range of a field in ``text``.
  func range(of field: Int) -> Range<Int> {
    (field == 0 ? 0 : ends[field - 1])..<ends[field]
  }

  func field(_ index: Int) -> String { String(decoding: text[range(of: index)], as: UTF8.self) }

  mutating func next(_ reader: inout LineReader) throws(ToolError) -> Row {
    text.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
    lineNumber = reader.lineNumber + 1
    var isQuoted = false
    var isTooLong = false
    while true {
      let isFirst = !isQuoted
      switch try reader.next() {
      case .end:
        return isTooLong ? .bad(reader.tooLong) : isQuoted ? .bad("a quote is opened and never closed") : .end
      case .tooLong:
        isTooLong = true
        // A quote within a field is doubled.
        if dialect.hasQuotes, !reader.skippedQuotes.isMultiple(of: 2) { isQuoted.toggle() }
        if !isQuoted { return .bad(reader.tooLong) }
      case .text(let range):
        var line = ContiguousArray(reader.buffer).span.extracting(range)
        if reader.lineNumber == 1 { line = line.extracting(byteOrderMarkLength(line)...) }
        if isFirst, line.isEmpty || line.count == 1 && line[0] == 0x0D { return .blank }
        if text.count + line.count > limit { isTooLong = true }
        if isTooLong {
          // Only scanned for its end.
          text.removeAll(keepingCapacity: true)
          ends.removeAll(keepingCapacity: true)
        }
        if isQuoted { text.append(reader.lineEnd) }
        switch append(line, isQuoted: isQuoted) {
        case .closed: return isTooLong ? .bad(reader.tooLong) : .fields
        case .open: isQuoted = true
        case .bad(let why): return .bad(isTooLong ? reader.tooLong : why)
        }
      }
    }
  }

  private enum Line {
    case closed
    case open
    case bad(String)
  }

  /// Appends a line's fields; `isQuoted` means that the line continues a quoted field.
  private mutating func append(_ line: Span<UInt8>, isQuoted: Bool) -> Line {
    let quote = UInt8(ascii: "\"")
    let comma = dialect.delimiter
    var position = 0
    var isQuoted = isQuoted
    while true {
      if !isQuoted, dialect.hasQuotes, position < line.count, line[position] == quote {
        isQuoted = true
        position += 1
      }
      if isQuoted {
        var isClosed = false
        while position < line.count {
          let byte = line[position]
          position += 1
          if byte != quote {
            text.append(byte)
          } else if position < line.count, line[position] == quote {
            text.append(quote)
            position += 1
          } else {
            isClosed = true
            break
          }
        }
        guard isClosed else { return .open }
        isQuoted = false
        if position == line.count - 1, line[position] == 0x0D { position += 1 }
        guard position == line.count || line[position] == comma else {
          return .bad("something follows the closing quote of field \(ends.count + 1)")
        }
      } else {
        let start = position
        while position < line.count, line[position] != comma {
          guard line[position] != quote || !dialect.hasQuotes else {
            return .bad("a quote in the middle of field \(ends.count + 1)")
          }
          position += 1
        }
        var end = position
        if position == line.count, end > start, line[end - 1] == 0x0D { end -= 1 }
        text.append(contentsOf: line.extracting(start..<end))
      }
      ends.append(text.count)
      if position == line.count { return .closed }
      position += 1
    }
  }
}

/// The length of the byte order mark with which some programs begin a UTF-8 file.
func byteOrderMarkLength(_ bytes: Span<UInt8>) -> Int {
  bytes.count >= 3 && bytes[0] == 0xEF && bytes[1] == 0xBB && bytes[2] == 0xBF ? 3 : 0
}
