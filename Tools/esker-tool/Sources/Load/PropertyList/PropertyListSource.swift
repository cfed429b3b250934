import Esker

/// The entries of a property list whose top is a dictionary, as UserDefaults and many programs keep them, in binary or as XML.
struct PropertyListSource: RecordSource {
  static let unit = "entry"

  private var entries: [(key: String, value: PropertyListValue)] = []
  private var count = 0
  private var key: [UInt8] = []
  private var value: [UInt8] = []

  /// Reads it as a whole: where things are stands at the end of a binary one.
  mutating func begin(_ reader: inout LineReader) throws {
    let limit = reader.limit
    let length = try reader.peek { (bytes, isAtEnd) in isAtEnd ? bytes.count : nil } ?? 0
    guard length <= limit, let range = try reader.bytes(length) else {
      throw ToolError.badBytes(name: reader.name, offset: limit, why: reader.tooLong)
    }
    let bytes = Array(reader.buffer[range])
    do throws(PropertyListFault) {
      let isBinary = bytes.starts(with: BinaryPropertyList.magic)
      guard case .dictionary(let top) = try isBinary ? BinaryPropertyList.read(bytes) : XMLPropertyList.read(bytes)
      else {
        throw PropertyListFault(offset: 0, why: "what is at the top is no dictionary, so there are no keys")
      }
      entries = top.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    } catch {
      throw ToolError.badBytes(name: reader.name, offset: error.offset, why: error.why)
    }
  }

  mutating func next(_ reader: inout LineReader) -> SourceStep {
    guard count < entries.count else { return .end }
    key = Array(entries[count].key.utf8)
    value = entries[count].value.bytes
    count += 1
    return .record
  }

  func number(_ reader: borrowing LineReader) -> Int { count }

  func withRecord(_ reader: borrowing LineReader, _ body: (Span<UInt8>, Span<UInt8>) throws -> Void) throws {
    try body(ContiguousArray(key).span, ContiguousArray(value).span)
  }
}
