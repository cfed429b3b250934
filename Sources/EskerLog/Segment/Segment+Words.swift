internal import EskerPlatform

extension Segment {
  /// The offset of the first nonzero aligned word at or after `offset`, before `end` and the end of the file; nil if none.
  ///
  /// Asks the file system about long runs of zeros: most were never written, and reading them would bring them into memory.
  func nextNonzeroWord(from offset: Int, end: Int) -> Int? {
    let end = reach(end)
    guard offset >= 0, offset < end else { return nil }
    var position = (offset + 7) & ~7
    while position + 8 <= end {
      let limit = min(end, position + 1 << 20)
      if let found = firstNonzeroWord(from: position, end: limit) { return found }
      guard let data = file.nextData(from: limit) else { return nil }
      position = max(limit, data & ~7)
    }
    return nil
  }

  private func firstNonzeroWord(from start: Int, end: Int) -> Int? {
    // Safety: `nextNonzeroWord` passes multiples of eight, and an end no further than what is accessible.
    var position = start
    while position + 32 <= end {
      let words = unsafe (base + position).assumingMemoryBound(to: UInt64.self)
      if unsafe words[0] | words[1] | words[2] | words[3] != 0 { break }
      position += 32
    }
    while position + 8 <= end {
      if unsafe base.load(fromByteOffset: position, as: UInt64.self) != 0 { return position }
      position += 8
    }
    return nil
  }

  /// The offset of the next readable record after a damaged one; nil if none.
  func nextRecord(after offset: Int, end: Int) -> Int? {
    var position = offset + 8
    while let candidate = nextNonzeroWord(from: position, end: end) {
      if case .record = readRecord(at: candidate, end: end) { return candidate }
      position = candidate + 8
    }
    return nil
  }
}
