/// A bucket as it was, kept for an image while the index goes on changing.
public struct SavedBucket: Sendable {
  /// The slots of all lines of the chain, as they stood.
  let words: [UInt64]
  /// The control words of the lines, without what links them.
  let owners: [UInt64]
}

extension HashIndex {
  /// The number of the bucket that a hash belongs to now.
  ///
  /// Thread safety: the writer only; with `splitsPaused` it stays so.
  public func bucket(of hash: UInt64) -> Int {
    Int(state.bucket(of: hash))
  }

  /// Copies a bucket; nil when it is damaged. Thread safety: the writer only.
  public func saveBucket(_ bucket: Int) -> SavedBucket? {
    guard let chain = Chain(bucket: UInt64(bucket), in: state) else { return nil }
    return SavedBucket(
      words: (0..<chain.capacity).map { chain[$0] },
      owners: chain.overflowCount == 0 ? [] : (1...chain.overflowCount).map { Control.owner(chain.line($0).control) }
    )
  }

  /// As ``exportBuckets(_:main:overflow:)``, with buckets that were saved before they changed in place of what they are now.
  public func exportBuckets(
    _ range: Range<Int>,
    saved: [Int: SavedBucket],
    main: UnsafeMutableRawBufferPointer,
    overflow: inout OverflowImage
  ) -> Bool {
    guard !saved.isEmpty else { return unsafe exportBuckets(range, main: main, overflow: &overflow) }
    var offset = 0
    for bucket in range {
      let line = unsafe UnsafeMutableRawBufferPointer(rebasing: main[offset..<offset + Line.byteCount])
      if let saved = saved[bucket] {
        unsafe saved.export(to: line, overflow: &overflow)
      } else if unsafe !exportBuckets(bucket..<bucket + 1, main: line, overflow: &overflow) {
        return false
      }
      offset += Line.byteCount
    }
    return true
  }
}

extension SavedBucket {
  func export(to line: UnsafeMutableRawBufferPointer, overflow: inout OverflowImage) {
    for slot in 0..<Line.slotCount {
      unsafe line.storeBytes(of: words[slot].littleEndian, toByteOffset: slot * 8, as: UInt64.self)
    }
    let next = owners.isEmpty ? 0 : overflow.append(self)
    unsafe line.storeBytes(of: (next << 32).littleEndian, toByteOffset: 56, as: UInt64.self)
  }
}
