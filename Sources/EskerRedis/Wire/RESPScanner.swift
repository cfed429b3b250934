#if Redis
  /// Finds the end of a message among bytes that arrive in pieces, looking at each byte once and taking no memory for what is announced.
  struct RESPScanner {
    /// Nesting beyond this is refused.
    static let deepest = 8
    /// The longest line: errors and numbers are lines.
    static let longestLine = 64 << 10

    private let limit: Int
    private let hardLimit: Int
    /// Where scanning goes on, from the beginning of the bytes.
    private(set) var offset = 0
    /// Bytes of a string that are still to come, with its line end.
    private var pending = 0
    /// For each level, how many values are still to come.
    private var open: [Int] = []
    /// Bytes that were dropped from the beginning.
    private var dropped = 0
    /// How long the message is at least, by what was announced.
    private var announced = 0

    /// A message over `limit` is not to be kept; one over `hardLimit` is an error.
    init(limit: Int, hardLimit: Int) {
      self.limit = limit
      self.hardLimit = hardLimit
    }

    /// The least length of the message, as far as it is known.
    var size: Int { max(announced, dropped + offset) }

    var isOversized: Bool { size > limit }

    /// Whether no byte of the message has been looked at.
    var isAtStart: Bool { offset == 0 && dropped == 0 && pending == 0 && open.isEmpty }

    /// Whether the beginning of the message is gone.
    var hasDropped: Bool { dropped > 0 }

    /// Says that the scanned bytes were dropped.
    mutating func drop() {
      dropped += offset
      offset = 0
    }

    /// Goes on with `bytes`, which begin where the message does, or behind what was dropped. True if the message ends at `offset`.
    mutating func advance(_ bytes: Span<UInt8>) throws(WireError) -> Bool {
      while true {
        if pending > 0 {
          let step = min(pending, bytes.count - offset)
          offset += step
          pending -= step
          if pending > 0 { return false }
          if endsMessage() { return true }
          continue
        }
        guard let end = try lineEnd(bytes) else { return false }
        let kind = bytes[offset]
        let header = (offset + 1)..<(end - 1)
        offset = end + 1
        if try read(kind, header, bytes) { return true }
      }
    }

    /// Where the line's LF is; nil if it is not there yet.
    private func lineEnd(_ bytes: Span<UInt8>) throws(WireError) -> Int? {
      var index = offset
      let end = min(bytes.count, offset + Self.longestLine)
      while index < end {
        if bytes[index] == UInt8(ascii: "\n") {
          guard index > offset + 1, bytes[index - 1] == UInt8(ascii: "\r") else { throw .malformed("line without CR") }
          return index
        }
        index += 1
      }
      guard end - offset < Self.longestLine else { throw .malformed("line too long") }
      // Garbage is noticed at its first byte, not after it has filled a line.
      if offset < bytes.count, !Self.isKind(bytes[offset]) { throw .malformed("unknown type \(bytes[offset])") }
      return nil
    }

    private static func isKind(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: ":"), UInt8(ascii: "_"), UInt8(ascii: ","),
        UInt8(ascii: "#"),
        UInt8(ascii: "("), UInt8(ascii: "$"), UInt8(ascii: "!"), UInt8(ascii: "="), UInt8(ascii: "*"),
        UInt8(ascii: "~"),
        UInt8(ascii: ">"), UInt8(ascii: "%"), UInt8(ascii: "|"):
        true
      default: false
      }
    }

    private mutating func read(_ kind: UInt8, _ header: Range<Int>, _ bytes: Span<UInt8>) throws(WireError) -> Bool {
      guard Self.isKind(kind) else { throw .malformed("unknown type \(kind)") }
      switch kind {
      case UInt8(ascii: "$"), UInt8(ascii: "!"), UInt8(ascii: "="):
        let length = try Self.length(header, bytes)
        guard length >= 0 else { return endsMessage() }
        try announce(length + 2)
        pending = length + 2
        return false
      case UInt8(ascii: "*"), UInt8(ascii: "~"), UInt8(ascii: ">"), UInt8(ascii: "%"), UInt8(ascii: "|"):
        var count = max(0, try Self.length(header, bytes))
        if kind == UInt8(ascii: "%") || kind == UInt8(ascii: "|") { count *= 2 }
        // The value that an attribute says something about.
        if kind == UInt8(ascii: "|") { count += 1 }
        guard count > 0 else { return endsMessage() }
        guard open.count < Self.deepest else { throw .tooDeep }
        // The shortest value takes three bytes.
        try announce(count * 3)
        open.append(count)
        return false
      default:
        return endsMessage()
      }
    }

    private mutating func announce(_ length: Int) throws(WireError) {
      announced = max(announced, dropped + offset + length)
      guard announced <= hardLimit, dropped + offset <= hardLimit else { throw .tooLong(announced) }
    }

    /// Notes the end of a value; true if it ends the message.
    private mutating func endsMessage() -> Bool {
      while let last = open.indices.last {
        open[last] -= 1
        if open[last] > 0 { return false }
        open.removeLast()
      }
      return true
    }

    /// The number of a header; -1 is the old form of null.
    static func length(_ header: Range<Int>, _ bytes: Span<UInt8>) throws(WireError) -> Int {
      guard let number = decimal(header, bytes), number >= -1, number <= 1 << 40 else { throw .malformed("length") }
      return number
    }

    /// A decimal number of at most 18 digits.
    static func decimal(_ range: Range<Int>, _ bytes: Span<UInt8>) -> Int? {
      var index = range.lowerBound
      guard index < range.upperBound else { return nil }
      let isNegative = bytes[index] == UInt8(ascii: "-")
      if isNegative || bytes[index] == UInt8(ascii: "+") { index += 1 }
      guard index < range.upperBound, range.upperBound - index <= 18 else { return nil }
      var number = 0
      while index < range.upperBound {
        let digit = bytes[index] &- UInt8(ascii: "0")
        guard digit <= 9 else { return nil }
        number = number * 10 + Int(digit)
        index += 1
      }
      return isNegative ? -number : number
    }
  }
#endif
