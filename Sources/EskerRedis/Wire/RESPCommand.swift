#if Redis
  /// A command as it is sent: an array of strings.
  struct RESPCommand: Sendable {
    private(set) var bytes: [UInt8] = []
    /// The script that is called by its digest, how many words there are, and where those behind the digest begin.
    private var script: (script: RedisScript, words: Int, tail: Int)?

    /// A command of `count` words, which are added one by one.
    init(_ name: String, words count: Int, room: Int = 64) {
      bytes.reserveCapacity(room + 24)
      bytes.append(UInt8(ascii: "*"))
      appendDecimal(count)
      appendLineEnd()
      add(name)
    }

    /// A call of a script for one key, with `count` arguments behind it, which are added as the key is.
    init(_ script: RedisScript, arguments count: Int, room: Int = 64) {
      self.init(script.isReadOnly ? "EVALSHA_RO" : "EVALSHA", words: 4 + count, room: room + 64)
      add(script.digest)
      self.script = (script, 4 + count, bytes.count)
      add("1")
    }

    /// The same with the script's text in place of its digest.
    var whole: [UInt8] {
      guard let script else { return bytes }
      var command = RESPCommand(
        script.script.isReadOnly ? "EVAL_RO" : "EVAL",
        words: script.words,
        room: bytes.count + 2_048
      )
      command.add(script.script.text)
      command.bytes += bytes[script.tail...]
      return command.bytes
    }

    /// A command that begins as another: with its words but for those that are added.
    init(_ beginning: RESPCommand, room: Int = 64) {
      bytes.reserveCapacity(beginning.bytes.count + room)
      bytes.append(contentsOf: beginning.bytes)
    }

    /// A command of words that are all known.
    init(_ words: String...) { self.init(words: words) }

    init(words: [String]) {
      self.init(words[0], words: words.count)
      for word in words.dropFirst() { add(word) }
    }

    mutating func add(_ word: String) { add(word.utf8) }

    mutating func add(_ word: some Collection<UInt8>) {
      begin(word.count)
      bytes.append(contentsOf: word)
      appendLineEnd()
    }

    /// Adds a key behind its prefix.
    mutating func add(_ prefix: [UInt8], _ key: [UInt8]) {
      begin(prefix.count + key.count)
      bytes.append(contentsOf: prefix)
      bytes.append(contentsOf: key)
      appendLineEnd()
    }

    mutating func add(_ number: UInt64) {
      begin(Self.digits(number))
      appendDecimal(Int(clamping: number))
      appendLineEnd()
    }

    private mutating func begin(_ length: Int) {
      bytes.append(UInt8(ascii: "$"))
      appendDecimal(length)
      appendLineEnd()
    }

    private mutating func appendLineEnd() {
      bytes.append(UInt8(ascii: "\r"))
      bytes.append(UInt8(ascii: "\n"))
    }

    private mutating func appendDecimal(_ number: Int) {
      guard number >= 10 else { return bytes.append(UInt8(ascii: "0") + UInt8(number)) }
      var divisor = 10
      while number / divisor >= 10 { divisor *= 10 }
      while divisor > 0 {
        bytes.append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
        divisor /= 10
      }
    }

    private static func digits(_ number: UInt64) -> Int {
      var count = 1
      var rest = number / 10
      while rest > 0 {
        count += 1
        rest /= 10
      }
      return count
    }
  }
#endif
