import Foundation

// Safety: the offsets come from `content`, which has checked them against the bytes, and no pointer leaves its closure.

extension ItemReader {
  /// The text of the item that begins with `head`, and its end.
  package func text(_ head: Head) throws -> (text: String, end: Int) {
    guard head.isIndefinite else {
      let end = try content(head)
      return (try text(head.end, end), end)
    }
    var text = ""
    let end = try chunks(head) { text += try self.text($0, $1) }
    return (text, end)
  }

  /// The bytes of the string that begins with `head`, and its end.
  package func bytes(_ head: Head) throws -> (bytes: [UInt8], end: Int) {
    guard head.isIndefinite else {
      let end = try content(head)
      return (unsafe withBytes(head.end, end) { unsafe [UInt8]($0) }, end)
    }
    var bytes: [UInt8] = []
    let end = try chunks(head) { start, end in unsafe withBytes(start, end) { unsafe bytes.append(contentsOf: $0) } }
    return (bytes, end)
  }

  func text(_ start: Int, _ end: Int) throws -> String {
    guard let text = textIfValid(start, end) else { throw MalformedItem(offset: start, reason: "A text is not UTF-8.") }
    return text
  }

  /// The text between two offsets, or nil if it is not UTF-8.
  ///
  /// `String(decoding:as:)` repairs invalid input, so its bytes then differ. `String(validating:as:)` would report it
  /// directly, but looks up generic types at each call, which takes longer than everything else here.
  @inline(__always)
  func textIfValid(_ start: Int, _ end: Int) -> String? {
    unsafe withBytes(start, end) { buffer in
      var text = unsafe String(decoding: buffer.assumingMemoryBound(to: UInt8.self), as: UTF8.self)
      let isSame = text.withUTF8 { bytes in
        guard bytes.count == buffer.count, let first = bytes.baseAddress, let base = buffer.baseAddress else {
          return unsafe buffer.isEmpty
        }
        return unsafe memcmp(first, base, bytes.count) == 0
      }
      return isSame ? text : nil
    }
  }

  /// Whether the bytes between two offsets are those of `text`.
  @inline(__always)
  func hasText(_ text: String, from start: Int, to end: Int) -> Bool {
    var text = text
    return text.withUTF8 { text in
      unsafe withBytes(start, end) { unsafe $0.elementsEqual(text) }
    }
  }

  private func chunks(_ head: Head, _ body: (Int, Int) throws -> Void) throws -> Int {
    let end = try skip(head.end - 1)
    var position = head.end
    while position < end - 1 {
      let chunk = try self.head(at: position)
      let next = try content(chunk)
      try body(chunk.end, next)
      position = next
    }
    return end
  }

  /// The key of a map at `offset`, or nil if it is of a kind that no `CodingKey` can represent.
  func key(at offset: Int) throws -> DocumentKey? {
    let head = try untaggedHead(at: offset)
    switch head.major {
    case MajorType.text:
      return DocumentKey(stringValue: try text(head).text)
    case MajorType.unsigned:
      return Int(exactly: head.argument).map(DocumentKey.init(intValue:))
    case MajorType.negative:
      return Int64(exactly: head.argument).flatMap { Int(exactly: ~$0) }.map(DocumentKey.init(intValue:))
    default:
      return nil
    }
  }
}
