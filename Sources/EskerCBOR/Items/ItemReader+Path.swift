extension ItemReader {
  /// The keys and indices that lead from the item at `start` to the one inside it at `target`, found by walking. Malformed
  /// bytes from `target` on do no harm.
  ///
  /// - Complexity: O(bytes between the two) per level.
  func path(from start: Int, to target: Int) -> [any CodingKey] {
    var path: [any CodingKey] = []
    var position = start
    while position < target, let head = try? untaggedHead(at: position), head.end <= target {
      guard let (key, child) = child(of: head, around: target) else { break }
      path.append(key)
      position = child
    }
    return path
  }

  /// The element or value, of the container that begins with `head`, that contains `target` or ends in malformed bytes
  /// before it.
  private func child(of head: Head, around target: Int) -> (DocumentKey, Int)? {
    guard head.major == MajorType.array || head.major == MajorType.map else { return nil }
    var position = head.end
    var left = head.isIndefinite ? Int.max : Int(clamping: head.argument)
    var index = 0
    while left > 0, position < count, position <= target, !(head.isIndefinite && byte(position) == InitialByte.stop) {
      var key = DocumentKey.index(index)
      if head.major == MajorType.map {
        key = (try? self.key(at: position)) ?? DocumentKey(stringValue: "?")
        guard let value = try? skip(position), value <= target else { return nil }
        position = value
      }
      guard let end = try? skip(position), end <= target else { return (key, position) }
      position = end
      index += 1
      left -= 1
    }
    return nil
  }
}
