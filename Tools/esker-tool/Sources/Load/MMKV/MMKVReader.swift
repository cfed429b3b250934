import Esker

/// Reads the parts that MMKV's entries are made of, up to where they end, and keeps their checksum.
struct MMKVReader {
  private(set) var checksum = CRC32()
  /// How many bytes of the entries come.
  private(set) var left: Int

  /// Begins with the entries, which are behind a length of four bytes.
  ///
  /// - Parameter length: How many bytes of them there are.
  init(_ length: Int, _ reader: inout LineReader) throws(ToolError) {
    left = length
    guard try reader.bytes(4) != nil else {
      throw .badBytes(name: reader.name, offset: reader.bytesConsumed, why: "the file ends early")
    }
  }

  /// The next bytes, valid until the next call.
  mutating func take(_ count: Int, _ reader: inout LineReader) throws(ToolError) -> Range<Int> {
    guard count <= left else {
      throw fault("\(NumberText.count(count)) bytes where only \(NumberText.count(left)) are left", reader)
    }
    guard let range = try reader.bytes(count) else { throw fault("the file ends early", reader) }
    checksum.add(ContiguousArray(reader.buffer).span.extracting(range))
    left -= count
    return range
  }

  mutating func skip(_ count: Int, _ reader: inout LineReader) throws(ToolError) {
    // That there are fewer is said of all of them.
    var rest = count
    while rest > 0 {
      let piece = rest <= left ? min(rest, 1 << 16) : rest
      _ = try take(piece, &reader)
      rest -= piece
    }
  }

  /// A length, seven bits in a byte, the least significant first.
  mutating func length(_ reader: inout LineReader) throws(ToolError) -> Int {
    var length = 0
    for place in 0..<5 {
      let range = try take(1, &reader)
      let byte = reader.buffer[range.lowerBound]
      length |= Int(byte & 0x7F) << (7 * place)
      if byte < 0x80 {
        guard length <= Int(Int32.max) else { break }
        return length
      }
    }
    throw fault("a length that no entry has", reader)
  }

  func fault(_ why: String, _ reader: borrowing LineReader) -> ToolError {
    .badBytes(name: reader.name, offset: reader.bytesConsumed, why: why)
  }
}
