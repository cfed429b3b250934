#if Redis
  internal import NIOCore

  /// Reads values from bytes of which ``RESPScanner`` has found that a whole message is there.
  struct RESPReader {
    private let buffer: ByteBuffer
    /// From the first readable byte.
    private(set) var offset: Int

    init(_ buffer: ByteBuffer, at offset: Int = 0) {
      self.buffer = buffer
      self.offset = offset
    }

    /// Reads a value.
    mutating func value() throws(WireError) -> RESPValue {
      let (kind, header) = try line()
      switch kind {
      case UInt8(ascii: "$"):
        guard let length = try length(header) else { return .null }
        return .bytes(try body(length))
      case UInt8(ascii: "+"), UInt8(ascii: "("): return .bytes(bytes(header))
      case UInt8(ascii: ":"): return .integer(try integer(header))
      case UInt8(ascii: "_"): return .null
      case UInt8(ascii: "#"): return .boolean(bytes(header) == [UInt8(ascii: "t")])
      case UInt8(ascii: ","): return .double(try double(header))
      case UInt8(ascii: "-"): return .error(ServerError(text(bytes(header))))
      case UInt8(ascii: "!"): return .error(ServerError(text(try body(try length(header) ?? 0))))
      case UInt8(ascii: "="):
        // Three letters and a colon say of what kind the text is.
        return .bytes(Array(try body(try length(header) ?? 0).dropFirst(4)))
      case UInt8(ascii: "*"), UInt8(ascii: "~"):
        guard let count = try length(header) else { return .null }
        return .array(try values(count))
      case UInt8(ascii: "%"): return .map(try values(2 * (try length(header) ?? 0)))
      case UInt8(ascii: ">"): return .push(try values(try length(header) ?? 0))
      case UInt8(ascii: "|"):
        _ = try values(2 * (try length(header) ?? 0))
        return try value()
      default: throw .malformed("unknown type \(kind)")
      }
    }

    private mutating func values(_ count: Int) throws(WireError) -> [RESPValue] {
      var values: [RESPValue] = []
      // Each of them is there, so this is bounded by the bytes received.
      values.reserveCapacity(count)
      for _ in 0..<count { values.append(try value()) }
      return values
    }

    /// The type of a value and the rest of its first line.
    mutating func line() throws(WireError) -> (kind: UInt8, header: Range<Int>) {
      let bytes = buffer
      let span = bytes.readableBytesUInt8Span
      var end = offset
      while end < span.count, span[end] != UInt8(ascii: "\n") { end += 1 }
      guard end < span.count, end > offset + 1 else { throw .malformed("line") }
      defer { offset = end + 1 }
      return (span[offset], (offset + 1)..<(end - 1))
    }

    /// The number of a header; nil is the old form of null.
    func length(_ header: Range<Int>) throws(WireError) -> Int? {
      let length = try RESPScanner.length(header, buffer.readableBytesUInt8Span)
      return length < 0 ? nil : length
    }

    /// The place of a string's bytes, which are passed.
    mutating func bodyRange(_ length: Int) throws(WireError) -> Range<Int> {
      let range = offset..<(offset + length)
      let bytes = buffer
      let span = bytes.readableBytesUInt8Span
      guard span.count >= range.upperBound + 2, span[range.upperBound] == UInt8(ascii: "\r"),
        span[range.upperBound + 1] == UInt8(ascii: "\n")
      else { throw .malformed("string without an end") }
      offset = range.upperBound + 2
      return range
    }

    private mutating func body(_ length: Int) throws(WireError) -> [UInt8] { bytes(try bodyRange(length)) }

    private func bytes(_ range: Range<Int>) -> [UInt8] {
      buffer.getBytes(at: buffer.readerIndex + range.lowerBound, length: range.count) ?? []
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    private func integer(_ header: Range<Int>) throws(WireError) -> Int64 {
      if let number = RESPScanner.decimal(header, buffer.readableBytesUInt8Span) { return Int64(number) }
      // One of 19 digits.
      guard let number = Int64(text(bytes(header))) else { throw .malformed("integer") }
      return number
    }

    private func double(_ header: Range<Int>) throws(WireError) -> Double {
      guard let number = Double(text(bytes(header))) else { throw .malformed("double") }
      return number
    }
  }
#endif
