/// Splits an input into lines.
///
/// Keeps one buffer, which grows to the longest line but no further than the limit allows.
struct LineReader: ~Copyable {
  enum Line {
    /// The line's range in ``LineReader/buffer``, without the newline. Valid until the next call.
    case text(Range<Int>)
    /// A line longer than the limit; it was skipped.
    case tooLong
    case end
  }

  /// Contains the line last read.
  private(set) var buffer: [UInt8]

  /// The number of the line last read, from 1.
  private(set) var lineNumber = 0

  /// Bytes of the input up to the end of the line last read.
  private(set) var bytesConsumed = 0

  /// The number of quotes in the line last read, if it was too long: in some formats they determine whether a row continues.
  private(set) var skippedQuotes = 0

  /// What ends a line: a newline, or the carriage return of systems of old.
  var lineEnd = UInt8(ascii: "\n")

  /// The checksum of those bytes, continuing from the value set before the first line.
  var checksum: UInt32 = 0

  private let input: InputFile

  /// The maximum length of a line in bytes.
  let limit: Int

  // start ..< searched: contains no newline; searched ..< filled: not searched yet.
  private var start = 0
  private var searched = 0
  private var filled = 0
  private var isAtEnd = false

  /// Creates a reader of lines of at most `limit` bytes.
  init(_ input: consuming InputFile, limit: Int, bufferSize: Int = 1 << 20) {
    self.input = input
    self.limit = limit
    buffer = [UInt8](repeating: 0, count: bufferSize)
  }

  /// The input's name, for messages.
  var name: String { input.name }

  /// The number of bytes not read yet, if the input is a regular file.
  var remainingBytes: Int? { input.remainingBytes }

  /// How much was done of these bytes.
  var position: Int { input.compressedBytesRead ?? bytesConsumed }

  /// Whether all buffered input has been consumed, so that reading the next line may block.
  var isDrained: Bool { start == filled }

  /// Skips to byte `offset` of the input, which follows `lines` lines.
  ///
  /// - Parameter progress: Called now and then with ``position``.
  /// - Returns: False if the input ends before that.
  mutating func skip(
    to offset: Int,
    lines: Int,
    progress: (Int) throws(ToolError) -> Void = { _ in }
  ) throws(ToolError) -> Bool {
    while bytesConsumed < offset {
      if start == filled {
        try fill()
        if isAtEnd { return false }
        try progress(position)
      }
      consume(upTo: start + min(filled - start, offset - bytesConsumed))
      searched = start
    }
    lineNumber = lines
    return bytesConsumed == offset
  }

  /// Reads the next line; the last one needs no newline.
  mutating func next() throws(ToolError) -> Line {
    var isTooLong = false
    skippedQuotes = 0
    while true {
      if let newline = buffer.firstIndex(of: lineEnd, in: searched..<filled) {
        return finish(start..<newline, next: newline + 1, isTooLong)
      }
      searched = filled
      if isAtEnd {
        guard start < filled || isTooLong else { return .end }
        return finish(start..<filled, next: filled, isTooLong)
      }
      if filled - start > limit { isTooLong = true }
      if isTooLong { skip(upTo: filled) }
      try fill()
    }
  }

  /// Reads on until something that is looked for is found, in what was read and not consumed yet; nothing is consumed.
  ///
  /// - Parameter find: Looks for it, and is told whether the input ends there; nil if more has to be read. The reader reads no
  ///   more than the limit.
  mutating func peek<R>(_ find: (Span<UInt8>, _ isAtEnd: Bool) -> R?) throws(ToolError) -> R? {
    while true {
      if let found = find(ContiguousArray(buffer).span.extracting(start..<filled), isAtEnd || filled - start > limit) {
        return found
      }
      if isAtEnd || filled - start > limit { return nil }
      try fill()
    }
  }

  /// Consumes the next bytes, whatever they are; the range in ``buffer`` is valid until the next call.
  ///
  /// - Returns: Nil, and nothing is consumed, if the input ends before.
  mutating func bytes(_ count: Int) throws(ToolError) -> Range<Int>? {
    while filled - start < count {
      guard !isAtEnd else { return nil }
      try fill()
    }
    let range = start..<start + count
    consume(upTo: range.upperBound)
    searched = start
    return range
  }

  /// Reads the next element of a JSON list, which need not be a line: the byte behind it is a comma, or the list's bracket, which
  /// is left for the next call, which returns the end.
  mutating func next(_ bounds: inout ElementBounds) throws(ToolError) -> Line {
    var isTooLong = false
    while true {
      if let end = bounds.scan(ContiguousArray(buffer).span, from: searched, to: filled) {
        let element = start..<end
        let isBracket = buffer[end] == bounds.closing
        if isBracket, !isTooLong, isBlank(ContiguousArray(buffer).span.extracting(element)) {
          bounds.isClosed = true
          pass(upTo: end + 1)
          return .end
        }
        isTooLong = isTooLong || element.count > limit
        pass(upTo: isBracket ? end : end + 1)
        return isTooLong ? .tooLong : .text(element)
      }
      searched = filled
      if isAtEnd {
        pass(upTo: filled)
        return .end
      }
      if filled - start > limit { isTooLong = true }
      if isTooLong { pass(upTo: filled) }
      try fill()
    }
  }

  /// Consumes bytes that ``peek(_:)`` has shown.
  mutating func pass(_ count: Int) {
    pass(upTo: min(start + count, filled))
  }

  /// Consumes bytes that need not end with a line.
  mutating func pass(upTo end: Int) {
    for index in start..<end where buffer[index] == lineEnd { lineNumber += 1 }
    consume(upTo: end)
    searched = end
  }

  /// Consumes what comes before the first of these bytes, and that byte.
  mutating func pass(through byte: UInt8) throws(ToolError) {
    while true {
      if let end = buffer.firstIndex(of: byte, in: start..<filled) { return pass(upTo: end + 1) }
      pass(upTo: filled)
      if isAtEnd { return }
      try fill()
    }
  }

  private mutating func finish(_ line: Range<Int>, next: Int, _ isTooLong: Bool) -> Line {
    lineNumber += 1
    let isTooLong = isTooLong || line.count > limit
    if isTooLong { skip(upTo: next) } else { consume(upTo: next) }
    searched = next
    return isTooLong ? .tooLong : .text(line)
  }

  private mutating func skip(upTo end: Int) {
    for index in start..<end where buffer[index] == UInt8(ascii: "\"") { skippedQuotes += 1 }
    consume(upTo: end)
  }

  private mutating func consume(upTo end: Int) {
    checksum = buffer.checksum(of: start..<end, continuing: checksum)
    bytesConsumed += end - start
    start = end
  }

  /// Reads more after the buffered bytes, making room first.
  private mutating func fill() throws(ToolError) {
    if start > 0, start == filled || filled == buffer.count {
      let rest = filled - start
      if rest > 0 { buffer.moveToFront(start..<filled) }
      start = 0
      searched = rest
      filled = rest
    }
    if filled == buffer.count {
      buffer.append(contentsOf: repeatElement(0, count: max(4096, min(buffer.count, limit + 2 - filled))))
    }
    let count = try input.read(into: &buffer, from: filled)
    filled += count
    if count == 0 { isAtEnd = true }
  }
}
