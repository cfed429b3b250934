/// JSON over several lines: what fits into a line stays on one.
struct ReadableJSON {
  private static let width = 72

  private var bytes: [UInt8] = []

  /// Nil unless the text is JSON.
  static func text(of json: String) -> String? {
    let bytes = Array(json.utf8)
    var lines = ReadableJSON()
    var cursor = JSONCursor()
    guard JSONCursor.isDocument(ContiguousArray(bytes).span),
      (try? lines.add(ContiguousArray(bytes).span, &cursor, 0)) != nil
    else { return nil }
    return String(decoding: lines.bytes, as: UTF8.self)
  }

  private mutating func add(_ json: Span<UInt8>, _ cursor: inout JSONCursor, _ depth: Int) throws {
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
    var isFirst = true
    try cursor.forEachMember(json) { cursor, name in
      if !isFirst { bytes.append(UInt8(ascii: ",")) }
      isFirst = false
      newLine(depth + 1)
      if let name {
        bytes.append(contentsOf: json.extracting(name.bytes.lowerBound - 1..<name.bytes.upperBound + 1))
        bytes.append(contentsOf: ": ".utf8)
      }
      try add(json, &cursor, depth + 1)
    }
    newLine(depth)
    bytes.append(json[end.position - 1])
  }

  private mutating func newLine(_ depth: Int) {
    bytes.append(UInt8(ascii: "\n"))
    bytes.append(contentsOf: repeatElement(0x20, count: 2 * depth))
  }
}
