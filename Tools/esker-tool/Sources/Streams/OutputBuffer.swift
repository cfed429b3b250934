/// Bytes that are about to be written, in memory of a fixed size.
///
/// Safety: `base` has room for `capacity` bytes and, behind them, for a word, and is freed with its only owner. Each function checks
/// its room before it stores anything, and what is lent is borrowed from the owner.
@safe
struct OutputBuffer: ~Copyable {
  let capacity: Int
  private(set) var count = 0
  private let base: UnsafeMutableRawPointer

  init(capacity: Int) {
    self.capacity = capacity
    unsafe base = .allocate(byteCount: capacity + 8, alignment: 8)
  }

  deinit { unsafe base.deallocate() }

  var isEmpty: Bool { count == 0 }

  /// How many bytes can be added.
  var room: Int { capacity - count }

  func lend<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try body(unsafe UnsafeRawBufferPointer(start: base, count: count).bytes)
  }

  mutating func removeAll() { count = 0 }

  /// Removes what was added since there were so many bytes.
  mutating func remove(behind end: Int) {
    precondition(0...count ~= end)
    count = end
  }

  @inline(__always)
  mutating func append(_ byte: UInt8) {
    precondition(room >= 1)
    unsafe base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
    count += 1
  }

  @inline(__always)
  mutating func append(_ bytes: RawSpan) {
    precondition(room >= bytes.byteCount)
    unsafe bytes.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      unsafe (base + count).copyMemory(from: start, byteCount: bytes.count)
    }
    count += bytes.byteCount
  }

  @inline(__always)
  mutating func append(_ bytes: [UInt8]) {
    bytes.lend(0..<bytes.count) { append($0) }
  }

  // MARK: JSON

  /// The room that ``append(quoting:)`` may need for so many bytes.
  @inline(__always)
  static func room(quoting count: Int) -> Int { 2 + 6 * count }

  /// Appends text as a string of JSON.
  ///
  /// - Returns: False, with nothing added, if the text is not well-formed UTF-8.
  /// - Complexity: O(n): a word at a time where nothing needs an escape.
  mutating func append(quoting text: RawSpan) -> Bool {
    precondition(room >= Self.room(quoting: text.byteCount))
    let start = count
    append(UInt8(ascii: "\""))
    guard appendEscaped(text) else {
      count = start
      return false
    }
    append(UInt8(ascii: "\""))
    return true
  }

  /// Safety: beside the room that was checked, a whole word is stored where only its first bytes count, which is why there is one more
  /// word behind the end.
  private mutating func appendEscaped(_ text: RawSpan) -> Bool {
    unsafe text.withUnsafeBytes { text -> Bool in
      var position = 0
      var end = count
      defer { count = end }
      while position < text.count {
        if text.count &- position >= 8 {
          let word = unsafe UInt64(littleEndian: text.loadUnaligned(fromByteOffset: position, as: UInt64.self))
          let special = Specials(in: word)
          if !special.areOthers {
            position &+= 8
            end = store(word, escaping: special.quotes, at: end)
            continue
          }
        }
        repeat {
          let byte = unsafe text[position]
          guard byte >= 0x80 else {
            position &+= 1
            end = store(escaping: byte, at: end)
            break
          }
          let length = unsafe text.bytes.withBytes { UTF8Check.length(of: $0, at: position) }
          guard length > 0 else { return false }
          for place in 0..<length {
            unsafe base.storeBytes(of: text[position &+ place], toByteOffset: end &+ place, as: UInt8.self)
          }
          position &+= length
          end &+= length
        } while position < text.count
      }
      return true
    }
  }

  /// What in a word cannot stand in a string of JSON as it is, or needs a look.
  private struct Specials {
    /// The highest bit of each byte that is a quotation mark or a backslash.
    let quotes: UInt64
    /// Whether there are control characters, or bytes that are not ASCII.
    let areOthers: Bool

    @inline(__always)
    init(in word: UInt64) {
      // Without the highest bits, no addition carries into the next byte.
      let ones: UInt64 = 0x0101_0101_0101_0101
      let high = ones &* 0x80
      let low = word & ~high
      let control = ~(low &+ ones &* 0x60)
      let quote = ~((low ^ ones &* UInt64(UInt8(ascii: "\""))) &+ ones &* 0x7F)
      let backslash = ~((low ^ ones &* UInt64(UInt8(ascii: "\\"))) &+ ones &* 0x7F)
      quotes = (quote | backslash) & high
      areOthers = (control | word) & high != 0
    }
  }

  /// Stores a word with a backslash in front of some bytes, whose highest bits are given; returns where it ends.
  ///
  /// Safety: there is room for sixteen bytes, and a word behind it.
  @inline(__always)
  private func store(_ word: UInt64, escaping escaped: UInt64, at start: Int) -> Int {
    unsafe base.storeBytes(of: word.littleEndian, toByteOffset: start, as: UInt64.self)
    var end = start &+ 8
    var left = escaped
    while left != 0 {
      // What follows moves up by one.
      let place = left.trailingZeroBitCount & ~7
      let target = end &- 8 &+ place >> 3
      unsafe base.storeBytes(of: UInt8(ascii: "\\"), toByteOffset: target, as: UInt8.self)
      unsafe base.storeBytes(of: (word &>> UInt64(place)).littleEndian, toByteOffset: target &+ 1, as: UInt64.self)
      end &+= 1
      left &= left &- 1
    }
    return end
  }

  /// Stores an ASCII character; returns where it ends. Safety: there is room for six bytes.
  @inline(__always)
  private func store(escaping byte: UInt8, at end: Int) -> Int {
    let escape: UInt8
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): escape = byte
    case 0x20...:
      unsafe base.storeBytes(of: byte, toByteOffset: end, as: UInt8.self)
      return end &+ 1
    case 0x08: escape = UInt8(ascii: "b")
    case 0x09: escape = UInt8(ascii: "t")
    case 0x0A: escape = UInt8(ascii: "n")
    case 0x0C: escape = UInt8(ascii: "f")
    case 0x0D: escape = UInt8(ascii: "r")
    default:
      for (place, character) in Array("\\u00".utf8 + [hexDigit(byte >> 4), hexDigit(byte & 15)]).enumerated() {
        unsafe base.storeBytes(of: character, toByteOffset: end &+ place, as: UInt8.self)
      }
      return end &+ 6
    }
    unsafe base.storeBytes(of: UInt8(ascii: "\\"), toByteOffset: end, as: UInt8.self)
    unsafe base.storeBytes(of: escape, toByteOffset: end &+ 1, as: UInt8.self)
    return end &+ 2
  }
}
