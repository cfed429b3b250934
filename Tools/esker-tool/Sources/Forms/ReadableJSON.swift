/// JSON over several lines: what fits into a line stays on one.
struct ReadableJSON {
  private static let width = 72

  private var bytes: [UInt8] = []
  private var cursor = JSONCursor()

  /// Nil unless the text is JSON.
  static func text(of json: String) -> String? {
    let bytes = Array(json.utf8)
    var lines = ReadableJSON()
    guard JSONCursor.isDocument(bytes.span), (try? lines.add(bytes.span, 0)) != nil else { return nil }
    return String(decoding: lines.bytes, as: UTF8.self)
  }

  private mutating func add(_ json: Span<UInt8>, _ depth: Int) throws {
    cursor.skipSpace(json)
    let start = cursor.position
    var end = cursor
    try end.skipValue(json, depth: depth)
    let (first, length) = (json[start], end.position - start)
    guard first == UInt8(ascii: "{") || first == UInt8(ascii: "["), length > 2,
      depth == 0 || length + 2 * depth > Self.width
    else {
      bytes.append(contentsOf: json.extracting(start..<end.position))
      cursor = end
      return
    }
    bytes.append(first)
    cursor.position += 1
    var isFirst = true
    repeat {
      if !isFirst { bytes.append(UInt8(ascii: ",")) }
      isFirst = false
      newLine(depth + 1)
      cursor.skipSpace(json)
      if first == UInt8(ascii: "{") { try addName(json) }
      try add(json, depth + 1)
      cursor.skipSpace(json)
    } while cursor.skip(UInt8(ascii: ","), json)
    newLine(depth)
    bytes.append(json[end.position - 1])
    cursor = end
  }

  private mutating func addName(_ json: Span<UInt8>) throws {
    let start = cursor.position
    _ = try cursor.string(json, wanted: "a name")
    bytes.append(contentsOf: json.extracting(start..<cursor.position))
    cursor.skipSpace(json)
    try cursor.expect(UInt8(ascii: ":"), json)
    bytes.append(contentsOf: ": ".utf8)
  }

  private mutating func newLine(_ depth: Int) {
    bytes.append(UInt8(ascii: "\n"))
    bytes.append(contentsOf: repeatElement(0x20, count: 2 * depth))
  }
}
