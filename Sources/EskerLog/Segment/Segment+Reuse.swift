internal import EskerFormat
internal import Synchronization

// Safety: the mapping begins with the header and the words, all of which are accessible in a segment that takes records; it is
// aligned to a page, and an atomic word has the layout of a plain one.
extension Segment {
  /// What is said of records that have replaced others in this segment. Another process may be changing it.
  var reuseWords: ReuseWords {
    guard kind == .log, reach(SegmentHeader.length) == SegmentHeader.length else { return ReuseWords() }
    var words = ReuseWords()
    // Acquiring: with a number comes all that was stored before it.
    words.last = word(.last)
    words.place = word(.place)
    words.former = word(.former)
    words.sum = word(.sum)
    words.base = word(.base)
    return words
  }

  private func word(_ word: ReuseWords.Word) -> UInt64 {
    let place = unsafe base + word.offset
    return UInt64(
      littleEndian: unsafe place.assumingMemoryBound(to: Atomic<UInt64>.self).pointee.load(ordering: .acquiring)
    )
  }
}
