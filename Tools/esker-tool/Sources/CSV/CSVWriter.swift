/// Builds rows of comma-separated values (RFC 4180); lines end with LF.
struct CSVWriter {
  /// The bytes written so far.
  private(set) var bytes: [UInt8] = []
  private var isFirst = true

  /// Clears the contents but keeps the storage.
  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    isFirst = true
  }

  /// Adds a field, quoted if necessary.
  mutating func field(_ text: Span<UInt8>) {
    if !isFirst { bytes.append(UInt8(ascii: ",")) }
    isFirst = false
    guard needsQuotes(text) else { return bytes.append(contentsOf: text) }
    bytes.append(UInt8(ascii: "\""))
    for index in 0..<text.count {
      if text[index] == UInt8(ascii: "\"") { bytes.append(UInt8(ascii: "\"")) }
      bytes.append(text[index])
    }
    bytes.append(UInt8(ascii: "\""))
  }

  mutating func field(_ text: String) {
    field(ContiguousArray(text.utf8).span)
  }

  mutating func newline() {
    bytes.append(UInt8(ascii: "\n"))
    isFirst = true
  }

  private func needsQuotes(_ text: Span<UInt8>) -> Bool {
    for index in 0..<text.count {
      switch text[index] {
      case UInt8(ascii: "\""), UInt8(ascii: ","), 0x0A, 0x0D: return true
      default: continue
      }
    }
    return false
  }
}
