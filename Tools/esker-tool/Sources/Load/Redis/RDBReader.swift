import Esker

/// Reads the parts that RDB files are made of, and keeps their checksum.
struct RDBReader {
  private(set) var checksum = CRC64()

  /// A length, or what stands in the place of one before a string that is written otherwise.
  private enum Length {
    case count(Int)
    case integer(bytes: Int)
    case compressed
  }

  /// A string, or how long it is if that is beyond the limit.
  enum Text {
    case bytes([UInt8])
    case tooLong(Int)
  }

  /// The next bytes, valid until the next call.
  mutating func take(_ count: Int, _ reader: inout LineReader) throws(ToolError) -> Range<Int> {
    guard let range = try reader.bytes(count) else { throw fault("the file ends in the middle", reader) }
    checksum.add(ContiguousArray(reader.buffer).span.extracting(range))
    return range
  }

  mutating func byte(_ reader: inout LineReader) throws(ToolError) -> UInt8 {
    let range = try take(1, &reader)
    return reader.buffer[range.lowerBound]
  }

  /// A number of so many bytes, the least significant first.
  mutating func number(bytes count: Int, _ reader: inout LineReader) throws(ToolError) -> UInt64 {
    var number: UInt64 = 0
    for place in 0..<count { number |= UInt64(try byte(&reader)) << UInt64(8 * place) }
    return number
  }

  mutating func skip(_ count: Int, _ reader: inout LineReader) throws(ToolError) {
    var left = count
    while left > 0 {
      let piece = min(left, 1 << 16)
      _ = try take(piece, &reader)
      left -= piece
    }
  }

  /// A length that stands for itself.
  mutating func count(_ reader: inout LineReader) throws(ToolError) -> Int {
    guard case .count(let count) = try length(&reader) else {
      throw fault("the encoding of a string where a length was expected", reader)
    }
    return count
  }

  mutating func string(_ reader: inout LineReader) throws(ToolError) -> Text {
    switch try length(&reader) {
    case .count(let count):
      guard count <= reader.limit else {
        try skip(count, &reader)
        return .tooLong(count)
      }
      let range = try take(count, &reader)
      return .bytes(Array(reader.buffer[range]))
    case .integer(let bytes): return .bytes(Array("\(try integer(bytes: bytes, &reader))".utf8))
    case .compressed:
      let (compressed, count) = (try self.count(&reader), try self.count(&reader))
      guard compressed <= reader.limit, count <= reader.limit else {
        try skip(compressed, &reader)
        return .tooLong(count)
      }
      let range = try take(compressed, &reader)
      guard let bytes = LZF.decompress(ContiguousArray(reader.buffer).span.extracting(range), count: count) else {
        throw fault("a compressed string is damaged", reader)
      }
      return .bytes(bytes)
    }
  }

  mutating func skipString(_ reader: inout LineReader) throws(ToolError) {
    switch try length(&reader) {
    case .count(let count): try skip(count, &reader)
    case .integer(let bytes): try skip(bytes, &reader)
    case .compressed:
      let compressed = try count(&reader)
      _ = try count(&reader)
      try skip(compressed, &reader)
    }
  }

  private mutating func integer(bytes: Int, _ reader: inout LineReader) throws(ToolError) -> Int64 {
    let shift = UInt64(64 - 8 * bytes)
    return Int64(bitPattern: try number(bytes: bytes, &reader) << shift) >> Int64(shift)
  }

  private mutating func length(_ reader: inout LineReader) throws(ToolError) -> Length {
    let first = try byte(&reader)
    switch (first >> 6, first & 63) {
    case (0, let low): return .count(Int(low))
    case (1, let high): return .count(Int(high) << 8 | Int(try byte(&reader)))
    case (2, 0): return .count(Int(UInt32(truncatingIfNeeded: try number(bytes: 4, &reader)).byteSwapped))
    case (2, 1):
      guard let count = Int(exactly: try number(bytes: 8, &reader).byteSwapped) else {
        throw fault("a length that no file has", reader)
      }
      return .count(count)
    case (3, 0): return .integer(bytes: 1)
    case (3, 1): return .integer(bytes: 2)
    case (3, 2): return .integer(bytes: 4)
    case (3, 3): return .compressed
    default: throw fault("byte \(first) where a length was expected", reader)
    }
  }

  func fault(_ why: String, _ reader: borrowing LineReader) -> ToolError {
    .badBytes(name: reader.name, offset: reader.bytesConsumed, why: why)
  }
}
