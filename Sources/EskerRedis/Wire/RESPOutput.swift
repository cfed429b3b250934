#if Redis
  /// Commands as they are sent, one behind the other: arrays of strings.
  struct RESPOutput: Sendable {
    private(set) var bytes: [UInt8] = []

    init(room: Int = 0) { bytes.reserveCapacity(room) }

    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    /// Appends what was encoded before.
    mutating func append(_ encoded: some Collection<UInt8>) { bytes.append(contentsOf: encoded) }

    /// Begins a command of `count` words, of which the name is one; the others are added one by one.
    mutating func begin(_ name: String, words count: Int) {
      bytes.append(UInt8(ascii: "*"))
      appendDecimal(count)
      appendLineEnd()
      add(name)
    }

    mutating func add(_ word: String) { add(word.utf8) }

    mutating func add(_ word: some Collection<UInt8>) {
      beginWord(word.count)
      bytes.append(contentsOf: word)
      appendLineEnd()
    }

    /// Adds a key behind its prefix.
    mutating func add(_ prefix: [UInt8], _ key: [UInt8]) {
      beginWord(prefix.count + key.count)
      bytes.append(contentsOf: prefix)
      bytes.append(contentsOf: key)
      appendLineEnd()
    }

    mutating func add(_ number: UInt64) {
      beginWord(Self.digits(number))
      appendDecimal(Int(clamping: number))
      appendLineEnd()
    }

    private mutating func beginWord(_ length: Int) {
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
