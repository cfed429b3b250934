#if Redis
  /// A command that is made ahead of being sent.
  struct RESPCommand: Sendable {
    private var output: RESPOutput
    /// The script that is called by its digest, how many words there are, and where those behind the digest begin.
    private var script: (script: RedisScript, words: Int, tail: Int)?

    /// A command of `count` words, which are added one by one.
    init(_ name: String, words count: Int, room: Int = 64) {
      output = RESPOutput(room: room + 24)
      output.begin(name, words: count)
    }

    /// A call of a script for one key, with `count` arguments behind it, which are added as the key is.
    init(_ script: RedisScript, arguments count: Int, room: Int = 64) {
      self.init(script.isReadOnly ? "EVALSHA_RO" : "EVALSHA", words: 4 + count, room: room + 64)
      add(script.digest)
      self.script = (script, 4 + count, bytes.count)
      add("1")
    }

    /// A command of words that are all known.
    init(_ words: String...) { self.init(words: words) }

    init(words: [String]) {
      self.init(words[0], words: words.count)
      for word in words.dropFirst() { add(word) }
    }

    var bytes: [UInt8] { output.bytes }

    /// The same with the script's text in place of its digest.
    var whole: [UInt8] {
      guard let script else { return bytes }
      var whole = RESPOutput(room: bytes.count + 2_048)
      whole.begin(script.script.isReadOnly ? "EVAL_RO" : "EVAL", words: script.words)
      whole.add(script.script.text)
      whole.append(bytes[script.tail...])
      return whole.bytes
    }

    mutating func add(_ word: String) { output.add(word) }

    mutating func add(_ word: some Collection<UInt8>) { output.add(word) }

    /// Adds a key behind its prefix.
    mutating func add(_ prefix: [UInt8], _ key: [UInt8]) { output.add(prefix, key) }

    mutating func add(_ number: UInt64) { output.add(number) }
  }
#endif
