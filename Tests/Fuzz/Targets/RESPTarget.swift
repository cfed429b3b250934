import NIOCore

@testable import WireCode

extension FuzzTarget {
  /// What a server of Redis sends, in pieces as long as the first byte says. They must come to the same as all at once.
  static let resp = FuzzTarget(
    name: "resp",
    longest: 512,
    samples: {
      let reply = "*3\r\n$3\r\none\r\n:-12\r\n%1\r\n+key\r\n,1.5\r\n$-1\r\n_\r\n#t\r\n=7\r\ntxt:abc\r\n-ERR no\r\n"
      let push = ">2\r\n$10\r\ninvalidate\r\n*2\r\n$1\r\na\r\n$1\r\nb\r\n|1\r\n+ttl\r\n:3\r\n(123456789012345678901\r\n"
      return ["replies": [5] + Array(reply.utf8), "pushes": [200] + Array(push.utf8)]
    },
    run: { input in
      guard let piece = input.first.map({ Int($0) + 1 }) else { return }
      let bytes = Array(input.dropFirst())
      for (limit, hardLimit) in [(RESPDecoder.usualLimit, RESPDecoder.usualHardLimit), (32, 256)] {
        let whole = Replies.read(bytes, limit, hardLimit, piece: max(1, bytes.count))
        require(whole == Replies.read(bytes, limit, hardLimit, piece: piece), "pieces are read as other messages")
        for push in whole.pushes { Replies.read(push) }
      }
      Replies.send(bytes)
    }
  )
}

private enum Replies {
  /// The messages in some bytes, and whether these end with something that is none.
  struct Reading: Equatable {
    /// In words, as there are numbers that are not equal to themselves.
    var messages: [String] = []
    var pushes: [ByteBuffer] = []
    var isMalformed = false

    mutating func append(_ message: RESPMessage) {
      if case .push(let push) = message { pushes.append(push) } else { messages.append("\(message)") }
    }
  }

  static func read(_ bytes: [UInt8], _ limit: Int, _ hardLimit: Int, piece: Int) -> Reading {
    var decoder = RESPDecoder(limit: limit, hardLimit: hardLimit)
    var reading = Reading()
    do throws(WireError) {
      for start in stride(from: 0, to: bytes.count, by: piece) {
        var buffer = ByteBuffer(bytes: bytes[start..<min(bytes.count, start + piece)])
        decoder.append(&buffer)
        while let message = try decoder.next() { reading.append(message) }
      }
      require(decoder.bufferedBytes <= bytes.count, "more is kept than was sent")
    } catch { reading.isMalformed = true }
    return reading
  }

  static func read(_ push: ByteBuffer) {
    _ = try? RESPPush.invalidation(push) { key in require(key.byteCount <= push.readableBytes, "a key is too long") }
    var reader = RESPReader(push)
    _ = try? reader.value()
  }

  /// A command reads as the array of its words.
  static func send(_ bytes: [UInt8]) {
    var output = RESPOutput()
    output.begin("SET", words: 3)
    output.add(bytes)
    output.add(Array(bytes.prefix(3)), Array(bytes.dropFirst(3)))
    let words = [Array("SET".utf8), bytes, bytes].map { RESPValue.bytes($0) }
    let reading = read(output.bytes, RESPDecoder.usualLimit, RESPDecoder.usualHardLimit, piece: 7)
    var expected = Reading()
    expected.append(.reply(.array(words)))
    require(reading == expected, "a command reads as something else")
  }
}
