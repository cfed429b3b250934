/// The position of a map.
struct DocumentMap {
  /// The offset of the first key.
  let first: Int
  let entries: Int

  var start: DecodingSession.Cursor { DecodingSession.Cursor(map: first, key: first, remaining: entries) }
}

extension DocumentKey {
  /// Whether `key` would have been written as this key.
  func matches(_ key: some CodingKey) -> Bool {
    if let intValue { return key.intValue == intValue }
    return key.stringValue == stringValue
  }
}
