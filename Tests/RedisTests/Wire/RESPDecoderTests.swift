import NIOCore
import EskerTestSupport
import Testing

@testable import EskerRedis

@Suite struct RESPDecoderTests {
  /// Each kind of value, and what it is.
  static let samples: [(String, RESPMessage)] = [
    ("+OK\r\n", .reply(.bytes(Array("OK".utf8)))),
    ("-MOVED 3999 127.0.0.1:6381\r\n", .reply(.error(ServerError("MOVED 3999 127.0.0.1:6381")))),
    (":-42\r\n", .reply(.integer(-42))),
    (":9223372036854775807\r\n", .reply(.integer(.max))),
    ("$5\r\na\r\nb\0\r\n", .reply(.bytes([97, 13, 10, 98, 0]))),
    ("$0\r\n\r\n", .reply(.bytes([]))),
    ("$-1\r\n", .reply(.null)),
    ("*-1\r\n", .reply(.null)),
    ("_\r\n", .reply(.null)),
    ("#t\r\n", .reply(.boolean(true))),
    (",1.5\r\n", .reply(.double(1.5))),
    ("(123456789012345678901234567890\r\n", .reply(.bytes(Array("123456789012345678901234567890".utf8)))),
    ("!7\r\nERR bad\r\n", .reply(.error(ServerError("ERR bad")))),
    ("=7\r\ntxt:abc\r\n", .reply(.bytes(Array("abc".utf8)))),
    ("*0\r\n", .reply(.array([]))),
    ("*2\r\n*1\r\n:1\r\n_\r\n", .reply(.array([.array([.integer(1)]), .null]))),
    ("~1\r\n+a\r\n", .reply(.array([.bytes([97])]))),
    ("%1\r\n+a\r\n:1\r\n", .reply(.map([.bytes([97]), .integer(1)]))),
    ("|1\r\n+ttl\r\n:9\r\n:1\r\n", .reply(.integer(1))),
    ("*1\r\n|1\r\n+ttl\r\n:9\r\n:1\r\n", .reply(.array([.integer(1)]))),
    (
      ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n",
      .push(ByteBuffer(string: ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n"))
    ),
  ]

  static var stream: [UInt8] { samples.flatMap { Array($0.0.utf8) } }
  static var messages: [RESPMessage] { samples.map(\.1) }

  static func decode(_ pieces: [ArraySlice<UInt8>], limit: Int = RESPDecoder.usualLimit) throws -> [RESPMessage] {
    var decoder = RESPDecoder(limit: limit)
    var messages: [RESPMessage] = []
    for piece in pieces {
      var buffer = ByteBuffer(bytes: piece)
      decoder.append(&buffer)
      while let message = try decoder.next() { messages.append(message) }
    }
    #expect(decoder.bufferedBytes == 0)
    return messages
  }

  @Test func everyValueIsDecoded() throws {
    for (text, message) in Self.samples {
      #expect(try Self.decode([Array(text.utf8)[...]]) == [message], "\(text.debugDescription)")
    }
  }

  @Test func everySplitGivesTheSame() throws {
    let stream = Self.stream
    for split in 1..<stream.count {
      #expect(try Self.decode([stream[..<split], stream[split...]]) == Self.messages, "at \(split)")
    }
    #expect(try Self.decode(stream.indices.map { stream[$0...$0] }) == Self.messages)
  }

  @Test func aReplyOverTheLimitIsReadThrough() throws {
    let big = Array("$100\r\n".utf8) + [UInt8](repeating: 1, count: 100) + Array("\r\n".utf8)
    let many = Array("*40\r\n".utf8) + (0..<40).flatMap { _ in Array("*1\r\n:1\r\n".utf8) }
    for message in [big, many] {
      let stream = Array("+a\r\n".utf8) + message + Array("+b\r\n".utf8)
      for split in 1..<stream.count {
        let messages = try Self.decode([stream[..<split], stream[split...]], limit: 64)
        #expect(messages.count == 3)
        #expect(messages.first == .reply(.bytes([97])) && messages.last == .reply(.bytes([98])))
        guard case .oversized(let size)? = messages.dropFirst().first else {
          Issue.record("not skipped")
          return
        }
        #expect(size == message.count)
      }
    }
  }

  /// A string that comes whole is read without the scanner, and must come to the same.
  @Test func theLimitIsTheSameForWhatComesWholeAndInPieces() throws {
    for length in 40...70 {
      let bytes = Array("$\(length)\r\n\(String(repeating: "x", count: length))\r\n".utf8)
      let whole = try Self.decode([bytes[...]], limit: 64)
      let pieces = try Self.decode(bytes.indices.map { bytes[$0...$0] }, limit: 64)
      #expect(whole == pieces && whole.count == 1, "\(length)")
      #expect((whole == [.oversized(bytes.count)]) == (bytes.count > 64), "\(length)")
    }
  }

  @Test func memoryIsNotTakenForWhatIsOnlyAnnounced() throws {
    var decoder = RESPDecoder()
    var begin = ByteBuffer(string: "$1000000000\r\n")
    decoder.append(&begin)
    #expect(try decoder.next() == nil)
    #expect(decoder.isSkipping)
    for _ in 0..<100 {
      var part = ByteBuffer(repeating: 7, count: 100_000)
      decoder.append(&part)
      #expect(try decoder.next() == nil)
      #expect(decoder.bufferedBytes == 0)
    }
  }

  /// As on a connection that always has more to read: no message ends where the bytes do.
  @Test func theRoomOfWhatWasReadIsUsedAgain() throws {
    func message(_ length: Int) -> [UInt8] {
      Array("$\(length)\r\n".utf8) + [UInt8](repeating: 7, count: length) + Array("\r\n".utf8)
    }
    var decoder = RESPDecoder()
    var most = 0
    func feed(_ bytes: some Sequence<UInt8>) throws -> Int {
      var part = ByteBuffer(bytes: bytes)
      decoder.append(&part)
      var count = 0
      while try decoder.next() != nil { count += 1 }
      most = max(most, decoder.capacity)
      return count
    }
    let small = message(20_000)
    let (head, tail) = (small.prefix(5_000), small.dropFirst(5_000))
    #expect(try feed(head) == 0)
    for _ in 0..<1_000 { #expect(try feed(tail + head) == 1) }
    #expect(most <= 128 << 10)
    // What a big one took is given back, though there is always something left.
    #expect(try feed(tail + message(8 << 20) + head) == 2)
    #expect(decoder.capacity > 8 << 20)
    for _ in 0..<3 { #expect(try feed(tail + head) == 1) }
    #expect(decoder.capacity <= 256 << 10)
    #expect(try feed(tail) == 1)
    #expect(decoder.bufferedBytes == 0 && decoder.capacity == 0)
  }

  @Test(arguments: [
    "$1073741825\r\n", "*999999999\r\n", "x", "hello\r\n", "HTTP/1.1 400 Bad Request\r\n", "$-2\r\n", "$1a\r\n",
    "*\r\n", "+a\n",
    String(repeating: "*1\r\n", count: 9) + ":1\r\n", ":12a\r\n", "$1\r\nabc\r\n", "$?\r\n", ">9000000\r\n",
  ])
  func garbageIsAnError(_ text: String) {
    #expect(throws: WireError.self) { try Self.decode([Array(text.utf8)[...]]) }
  }

  @Test func eightLevelsAreDecoded() throws {
    let text = String(repeating: "*1\r\n", count: 8) + ":1\r\n"
    #expect(try Self.decode([Array(text.utf8)[...]]).count == 1)
  }

  @Test func changedBytesNeverCrash() {
    var random = SeededGenerator(announcedFor: "changedBytesNeverCrash")
    for _ in 0..<3_000 {
      var stream = Self.stream
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let place = Int.random(in: 0..<stream.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: stream[place] = UInt8.random(in: 0...255, using: &random)
        case 1: stream.remove(at: place)
        default: stream.insert(UInt8(ascii: Bool.random(using: &random) ? "9" : "*"), at: place)
        }
      }
      var decoder = RESPDecoder(limit: 1 << 10, hardLimit: 1 << 16)
      var rest = stream[...]
      do {
        while !rest.isEmpty {
          let piece = rest.prefix(Int.random(in: 1...40, using: &random))
          rest = rest.dropFirst(piece.count)
          var buffer = ByteBuffer(bytes: piece)
          decoder.append(&buffer)
          while let message = try decoder.next() {
            if case .push(let push) = message { _ = try RESPPush.invalidation(push) { _ in } }
          }
          #expect(decoder.bufferedBytes <= 1 << 11)
        }
      } catch {}
    }
  }

  @Test func pushesAreReadInPlace() throws {
    func keys(_ text: String) throws -> ([String], RESPPush.Invalidation?) {
      var keys: [String] = []
      let kind = try RESPPush.invalidation(ByteBuffer(string: text)) { key in
        key.withUnsafeBytes { keys.append(String(decoding: $0, as: UTF8.self)) }
      }
      return (keys, kind)
    }
    #expect(try keys(">2\r\n$10\r\ninvalidate\r\n*2\r\n$1\r\na\r\n$2\r\nbc\r\n") == (["a", "bc"], .keys))
    #expect(try keys(">2\r\n$10\r\ninvalidate\r\n_\r\n") == ([], .everything))
    #expect(try keys(">3\r\n+message\r\n+a\r\n+b\r\n") == ([], nil))
  }

  @Test func commandsAreEncoded() {
    var command = RESPCommand("SET", words: 5)
    command.add(Array("p:".utf8), Array("k".utf8))
    command.add([0, 255])
    command.add("PXAT")
    command.add(UInt64(1234))
    let text =
      Array("*5\r\n$3\r\nSET\r\n$3\r\np:k\r\n$2\r\n".utf8) + [0, 255] + Array("\r\n$4\r\nPXAT\r\n$4\r\n1234\r\n".utf8)
    #expect(command.bytes == text)
  }
}

private func == <A: Equatable, B: Equatable>(left: (A, B), right: (A, B)) -> Bool {
  left.0 == right.0 && left.1 == right.1
}
