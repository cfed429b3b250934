#if Redis
  internal import NIOCore

  /// What a server sends.
  enum RESPMessage: Hashable {
    case reply(RESPValue)
    /// The bytes of a push, of which ``RESPPush`` reads what is wanted, since most of it needs no memory of its own.
    case push(ByteBuffer)
    /// A reply of that size, over the limit, which was read through.
    case oversized(Int)
  }

  /// Cuts what a server sends into messages.
  ///
  /// A message is decoded in place when all of it is there. A reply over the limit is dropped as it comes: closing the connection would
  /// let a single key cost everything that is known to be current.
  struct RESPDecoder {
    /// The largest reply that is kept, unless told otherwise.
    static let usualLimit = 16 << 20
    /// The largest that is read through.
    static let usualHardLimit = 1 << 30
    /// Room up to this is kept, also if it is much more than is needed.
    private static let mostRoomKept = 256 << 10

    private let limit: Int
    private let hardLimit: Int
    private var buffer = ByteBuffer()
    private var scanner: RESPScanner

    init(limit: Int = usualLimit, hardLimit: Int = usualHardLimit) {
      self.limit = limit
      self.hardLimit = hardLimit
      scanner = RESPScanner(limit: limit, hardLimit: hardLimit)
    }

    /// Bytes that are kept for a message that is not complete.
    var bufferedBytes: Int { buffer.readableBytes }

    /// The room that is held for them.
    var capacity: Int { buffer.storageCapacity }

    /// Whether a reply over the limit is being read through.
    var isSkipping: Bool { scanner.isOversized }

    mutating func append(_ bytes: inout ByteBuffer) {
      guard buffer.readableBytes > 0 else { return buffer = bytes }
      // Where there is always more to read, the buffer is never empty. The rest is moved only if that is less than was read since it
      // was moved last, so a byte is moved once, on average.
      if buffer.readerIndex > buffer.readableBytes { discardRead(before: bytes.readableBytes) }
      buffer.writeBuffer(&bytes)
    }

    /// Gives back the room of what was read, and what a big message has left.
    private mutating func discardRead(before count: Int) {
      let needed = buffer.readableBytes + count
      guard buffer.storageCapacity > max(Self.mostRoomKept, 4 * needed) else {
        buffer.discardReadBytes()
        return
      }
      var smaller = ByteBuffer()
      smaller.reserveCapacity(needed)
      smaller.writeBuffer(&buffer)
      buffer = smaller
    }

    /// The next message, if all of it is there.
    mutating func next() throws(WireError) -> RESPMessage? {
      guard buffer.readableBytes > 0 else {
        // Whoever reads from the socket may use it again, and nobody holds the room of a big message.
        buffer = ByteBuffer()
        return nil
      }
      if scanner.isAtStart, let value = nextString() { return .reply(value) }
      let bytes = buffer
      let isComplete = try scanner.advance(bytes.readableBytesUInt8Span)
      if scanner.isOversized {
        if let first = buffer.getInteger(at: buffer.readerIndex, as: UInt8.self), first == UInt8(ascii: ">"),
          !scanner.hasDropped
        {
          // It cannot be known what it told.
          throw .tooLong(scanner.size)
        }
        buffer.moveReaderIndex(forwardBy: scanner.offset)
        scanner.drop()
        // Not to keep the room that the part took.
        if buffer.readableBytes == 0 { buffer = ByteBuffer() }
        guard isComplete else { return nil }
        let size = scanner.size
        reset()
        return .oversized(size)
      }
      guard isComplete else { return nil }
      let length = scanner.offset
      reset()
      if buffer.getInteger(at: buffer.readerIndex, as: UInt8.self) == UInt8(ascii: ">"),
        let push = buffer.readSlice(length: length)
      {
        return .push(push)
      }
      var reader = RESPReader(buffer)
      let value = try reader.value()
      buffer.moveReaderIndex(forwardBy: length)
      return .reply(value)
    }

    /// The next message if it is the usual one, a string of which all is there, without a scan before the reading. Whatever is unusual
    /// is left to the scanner.
    private mutating func nextString() -> RESPValue? {
      guard let found = Self.string(in: buffer, limit),
        let string = buffer.getBytes(at: buffer.readerIndex + found.lowerBound, length: found.count)
      else { return nil }
      buffer.moveReaderIndex(forwardBy: found.upperBound + 2)
      return .bytes(string)
    }

    private static func string(in buffer: ByteBuffer, _ limit: Int) -> Range<Int>? {
      let bytes = buffer.readableBytesUInt8Span
      guard bytes.count >= 5, bytes[0] == UInt8(ascii: "$") else { return nil }
      var length = 0
      var place = 1
      while place < min(bytes.count, 8), case let digit = bytes[place] &- UInt8(ascii: "0"), digit <= 9 {
        length = length * 10 + Int(digit)
        place += 1
      }
      let start = place + 2
      let end = start + length
      guard place > 1, end + 2 <= min(limit, bytes.count),
        bytes[place] == UInt8(ascii: "\r"), bytes[place + 1] == UInt8(ascii: "\n"),
        bytes[end] == UInt8(ascii: "\r"), bytes[end + 1] == UInt8(ascii: "\n")
      else { return nil }
      return start..<end
    }

    private mutating func reset() { scanner = RESPScanner(limit: limit, hardLimit: hardLimit) }
  }
#endif
