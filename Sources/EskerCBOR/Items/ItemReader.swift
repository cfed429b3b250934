import Foundation

/// Why and where bytes are not well-formed CBOR.
struct MalformedItem: Error {
  let offset: Int
  let reason: String
}

/// Reads items from untrusted bytes. Every access is within the bytes.
///
/// Safety: the creator keeps the bytes while the reader is in use. Offsets are checked against `count` before anything is
/// read there: by `head`, from which `content` and `skip` derive their ends, and otherwise by the callers of `byte` and
/// `load`.
@safe
package struct ItemReader {
  private let base: UnsafeRawPointer
  package let count: Int

  /// A reader of the bytes in a buffer, which may be empty.
  init(_ buffer: UnsafeRawBufferPointer) {
    unsafe base = buffer.baseAddress ?? Self.nowhere
    count = buffer.count
  }

  /// Calls `body` with a reader of some bytes, which may be used until it returns.
  package static func read<R>(_ bytes: [UInt8], _ body: (ItemReader) throws -> R) rethrows -> R {
    // Safety: the array outlives the closure.
    try unsafe bytes.withUnsafeBytes { buffer in try body(unsafe ItemReader(buffer)) }
  }

  /// The address of a reader without bytes, which refuses every access. Safety: a constant that is never freed.
  nonisolated(unsafe) private static let nowhere = UnsafeRawPointer(
    UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)
  )

  static var empty: ItemReader { unsafe ItemReader(UnsafeRawBufferPointer(start: nil, count: 0)) }

  /// An item's first byte and argument.
  package struct Head {
    package let initial: UInt8
    /// 0 for an indefinite length.
    package let argument: UInt64
    /// The offset after the first byte and argument.
    package let end: Int

    package var major: UInt8 { initial & MajorType.mask }
    package var isIndefinite: Bool { initial & 0x1f == InitialByte.indefinite }
  }

  /// The byte at `offset`, which the caller has checked.
  @inline(__always)
  func byte(_ offset: Int) -> UInt8 {
    assert(offset >= 0 && offset < count)
    return unsafe base.load(fromByteOffset: offset, as: UInt8.self)
  }

  /// The number at `offset`; the caller has checked that it ends within the bytes.
  @inline(__always)
  func load<I: FixedWidthInteger & BitwiseCopyable>(_ type: I.Type, at offset: Int) -> I {
    assert(offset >= 0 && offset <= count - MemoryLayout<I>.size)
    return unsafe I(bigEndian: base.loadUnaligned(fromByteOffset: offset, as: type))
  }

  /// The bytes between two offsets, which the caller has checked.
  @inline(__always)
  func withBytes<R>(_ start: Int, _ end: Int, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    assert(start >= 0 && start <= end && end <= count)
    return try unsafe body(UnsafeRawBufferPointer(start: base + start, count: end - start))
  }

  /// Whether the bytes at `offset` begin with `item`.
  @inline(__always)
  func has(_ item: EncodedKey, at offset: Int) -> Bool {
    let length = item.length
    guard length <= 16, length > 0, count - offset >= 16 else {
      return unsafe count - offset >= length && memcmp(base + offset, item.row, length) == 0
    }
    let first = unsafe difference(item.row, at: offset)
    if length <= 8 { return first << UInt64(64 - 8 * length) == 0 }
    return unsafe first == 0 && difference(item.row + 8, at: offset + 8) << UInt64(128 - 8 * length) == 0
  }

  /// Whether the bytes at `offset` begin with a key whose item is in its words.
  @inline(__always)
  func has(_ key: CBORKey, at offset: Int) -> Bool {
    let length = UInt64(key.length)
    let left = count - offset
    if length <= 8, length > 0, left >= 8 {
      return (word(at: offset) ^ key.low) << (64 - 8 * length) == 0
    }
    if length > 8, length <= 16, left >= 16 {
      return word(at: offset) == key.low && (word(at: offset + 8) ^ key.high) << (128 - 8 * length) == 0
    }
    return hasSlowly(key, at: offset)
  }

  /// Near the end of the bytes, or with a long text.
  @inline(never)
  private func hasSlowly(_ key: CBORKey, at offset: Int) -> Bool {
    guard key.length > 0 else { return hasLong(key, at: offset) }
    let length = Int(key.length)
    guard length <= 16, count - offset >= length else { return false }
    for index in 0..<length {
      let word = index < 8 ? key.low : key.high
      if byte(offset + index) != UInt8(truncatingIfNeeded: word >> UInt64(8 * (index & 7))) { return false }
    }
    return true
  }

  private func hasLong(_ key: CBORKey, at offset: Int) -> Bool {
    guard let head = try? head(at: offset), head.major == MajorType.text, !head.isIndefinite,
      let end = try? content(head)
    else { return false }
    return key.text.withUTF8Buffer { text in unsafe withBytes(head.end, end) { unsafe $0.elementsEqual(text) } }
  }

  /// Whether the item at `offset` is a text whose bytes tell it from each other key: a short one of ASCII in the usual form. Only
  /// such are known to differ from a key because their bytes do.
  @inline(__always)
  func isPlainKey(at offset: Int) -> Bool {
    guard count - offset >= 16 else { return false }
    let length = UInt64(byte(offset) ^ MajorType.text) + 1
    if length <= 8 { return (word(at: offset) << (64 - 8 * length)) & 0x8080_8080_8080_8080 == 0 }
    guard length <= 16 else { return false }
    let high = length == 16 ? word(at: offset + 8) : word(at: offset + 8) << (128 - 8 * length)
    return (word(at: offset) | high) & 0x8080_8080_8080_8080 == 0
  }

  /// Eight bytes, the first of them lowest; the caller has checked that they are there.
  @inline(__always)
  private func word(at offset: Int) -> UInt64 {
    load(UInt64.self, at: offset).byteSwapped
  }

  /// The bits in which eight bytes differ; the first byte is lowest.
  @inline(__always)
  private func difference(_ other: UnsafeRawPointer, at offset: Int) -> UInt64 {
    unsafe UInt64(
      littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self) ^ other.loadUnaligned(as: UInt64.self)
    )
  }

  @inline(__always)
  package func head(at offset: Int) throws -> Head {
    guard offset < count else { throw MalformedItem(offset: offset, reason: "The bytes end within an item.") }
    let initial = byte(offset)
    let info = initial & 0x1f
    if info < 24 { return Head(initial: initial, argument: UInt64(info), end: offset + 1) }
    return try longHead(initial, at: offset)
  }

  private func longHead(_ initial: UInt8, at offset: Int) throws -> Head {
    let info = initial & 0x1f
    if info <= 27 {
      let width = 1 << Int(info - 24)
      guard count - offset > width else { throw MalformedItem(offset: offset, reason: "The bytes end within an item.") }
      switch width {
      case 1: return Head(initial: initial, argument: UInt64(byte(offset + 1)), end: offset + 2)
      case 2: return Head(initial: initial, argument: UInt64(load(UInt16.self, at: offset + 1)), end: offset + 3)
      case 4: return Head(initial: initial, argument: UInt64(load(UInt32.self, at: offset + 1)), end: offset + 5)
      default: return Head(initial: initial, argument: load(UInt64.self, at: offset + 1), end: offset + 9)
      }
    }
    guard info == InitialByte.indefinite else {
      throw MalformedItem(offset: offset, reason: "The byte \(initial) begins no item.")
    }
    switch initial & MajorType.mask {
    case MajorType.bytes, MajorType.text, MajorType.array, MajorType.map:
      return Head(initial: initial, argument: 0, end: offset + 1)
    default:
      throw MalformedItem(offset: offset, reason: "The byte \(initial) begins no item.")
    }
  }

  /// The head of the item at `offset`, after its tags.
  @inline(__always)
  func untaggedHead(at offset: Int) throws -> Head {
    var head = try head(at: offset)
    while head.major == MajorType.tag { head = try self.head(at: head.end) }
    return head
  }

  /// The end of a string of `head.argument` bytes, or of a container with that many items in it.
  @inline(__always)
  func content(_ head: Head) throws -> Int {
    guard head.argument <= UInt64(count - head.end) else {
      throw MalformedItem(
        offset: head.end,
        reason: "\(head.argument) bytes or items are announced, \(count - head.end) bytes are left."
      )
    }
    return head.end + Int(truncatingIfNeeded: head.argument)
  }

  /// The offset after the item at `offset`, which is checked to be well-formed except for the UTF-8 of its texts.
  func skip(_ offset: Int) throws -> Int {
    try skip(offset, items: 1, depth: 0)
  }

  /// Skips `items` items. Definite containers add to the pending count, so that only indefinite ones recurse.
  private func skip(_ offset: Int, items: Int, depth: Int) throws -> Int {
    var position = offset
    var pending = items
    while pending > 0 {
      let head = try head(at: position)
      pending -= 1
      position = head.end
      switch head.major {
      case MajorType.unsigned, MajorType.negative:
        break
      case MajorType.tag:
        pending += 1
      case MajorType.simple:
        if head.initial == 0xf8, head.argument < 32 {
          throw MalformedItem(offset: position - 2, reason: "A simple value below 32 takes one byte.")
        }
      default:
        if head.isIndefinite {
          position = try skipIndefinite(head, depth: depth + 1)
        } else if head.major == MajorType.bytes || head.major == MajorType.text {
          position = try content(head)
        } else {
          // The count is at most the number of bytes left, so neither sum can overflow.
          _ = try content(head)
          pending += Int(truncatingIfNeeded: head.argument) * (head.major == MajorType.map ? 2 : 1)
        }
      }
      guard pending <= count - position else {
        throw MalformedItem(
          offset: position,
          reason: "\(pending) items are announced, \(count - position) bytes are left."
        )
      }
    }
    return position
  }

  private func skipIndefinite(_ head: Head, depth: Int) throws -> Int {
    guard depth <= maximumDepth else {
      throw MalformedItem(offset: head.end, reason: "Items are nested in more than \(maximumDepth) others.")
    }
    var position = head.end
    while true {
      guard position < count else { throw MalformedItem(offset: position, reason: "The bytes end within an item.") }
      if byte(position) == InitialByte.stop { return position + 1 }
      switch head.major {
      case MajorType.bytes, MajorType.text:
        let chunk = try self.head(at: position)
        guard chunk.major == head.major, !chunk.isIndefinite else {
          throw MalformedItem(offset: position, reason: "A chunk of a string is not a string of its kind.")
        }
        position = try content(chunk)
      default:
        position = try skip(position, items: head.major == MajorType.map ? 2 : 1, depth: depth)
      }
    }
  }

  /// The number of elements or pairs in the array or map that begins with `head`.
  package func items(_ head: Head) throws -> Int {
    let each = head.major == MajorType.map ? 2 : 1
    if !head.isIndefinite {
      guard head.argument <= UInt64((count - head.end) / each) else {
        throw MalformedItem(
          offset: head.end,
          reason: "\(head.argument) elements or pairs are announced, \(count - head.end) bytes are left."
        )
      }
      return Int(truncatingIfNeeded: head.argument)
    }
    var position = head.end
    var items = 0
    while true {
      guard position < count else { throw MalformedItem(offset: position, reason: "The bytes end within an item.") }
      if byte(position) == InitialByte.stop { return items }
      position = try skip(position, items: each, depth: 1)
      items += 1
    }
  }
}
